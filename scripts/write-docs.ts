import { writeFile } from 'node:fs/promises';
import { generatedDocs } from './generated-docs.ts';

for (const [file, text] of Object.entries(generatedDocs())) await writeFile(file, text);
