/** The hub cannot start or go on. The message says what happened and why; `remedy` says what to do next. */
export class StartError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
    this.remedy = remedy;
  }
}
