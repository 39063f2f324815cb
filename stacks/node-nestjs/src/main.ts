import cluster from 'node:cluster';
import { settings } from './settings.js';

const { cpus, poolSize } = settings();

if (cluster.isPrimary && cpus > 1) {
  const { runWorkers } = await import('./workers.js');
  runWorkers(cpus, poolSize);
} else {
  const { serve } = await import('./serve.js');
  await serve();
}
