import cluster from 'node:cluster';
import { settings } from './settings.js';

const { processes, poolSize } = settings();

if (cluster.isPrimary && processes > 1) {
  const { runWorkers } = await import('./workers.js');
  runWorkers(processes, poolSize);
} else {
  const { serve } = await import('./serve.js');
  await serve();
}
