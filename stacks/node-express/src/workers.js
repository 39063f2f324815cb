import cluster from 'node:cluster';

/** Runs the workers, replaces those that die, and passes SIGTERM on. */
export function runWorkers({ processes, poolSize }) {
  let stopping = false;

  function start(poolShare) {
    const worker = cluster.fork({ POOL_SIZE: poolShare });
    let served = false;
    worker.on('listening', () => {
      served = true;
    });
    worker.on('exit', (code, signal) => {
      if (stopping) return;
      console.error(`worker ${worker.process.pid} ended (${signal ?? code})`);
      if (served) {
        start(poolShare);
      } else {
        // It would fail the same way again.
        process.exitCode = 1;
        stop();
      }
    });
  }

  function stop() {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) {
      worker.process.kill('SIGTERM');
    }
  }

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  for (const poolShare of shares(poolSize, processes)) start(poolShare);
}

/** Divides `total` into `count` shares that add up to it, but none is below 1. */
function shares(total, count) {
  return Array.from({ length: count }, (_, index) =>
    Math.max(1, Math.floor((total + count - 1 - index) / count)),
  );
}
