// A process for each CPU: a process of Node's runs JavaScript on one of them.
import cluster from 'node:cluster';
import { serve } from './serve.js';

const cpus = Number(process.env.CPUS ?? 1);

if (cluster.isPrimary && cpus > 1) {
  for (let i = 0; i < cpus; i += 1) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
    cluster.on('exit', () => {
      if (Object.keys(cluster.workers).length === 0) process.exit(0);
    });
  });
} else {
  serve();
}
