/** Wall clock and CPU of this process, from now on. */
export const startStopwatch = () => {
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  return {
    elapsedMs: () => performance.now() - begun,
    read: (): { seconds: number; cpuUs: number } => {
      const { user, system } = process.cpuUsage(cpuBefore);
      return { seconds: (performance.now() - begun) / 1_000, cpuUs: user + system };
    },
  };
};
