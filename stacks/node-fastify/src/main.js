import cluster from 'node:cluster';
import { settings } from './settings.js';

if (cluster.isPrimary && settings.processes > 1) {
  const { runWorkers } = await import('./workers.js');
  runWorkers(settings);
} else {
  const { serve } = await import('./serve.js');
  await serve(settings);
}
