import type { Settings } from "./settings.ts";

/** Runs the processes on the same port, replaces those that die, and passes SIGTERM on. */
export function runWorkers({ processes, poolSize }: Settings): void {
  const workers = new Set<Bun.Subprocess>();
  let stopping = false;

  function start(poolShare: number): void {
    let served = false;
    const worker = Bun.spawn([process.execPath, Bun.main], {
      env: { ...process.env, CPUS: "1", POOL_SIZE: String(poolShare) },
      stdio: ["ignore", "inherit", "inherit"],
      ipc() {
        served = true;
      },
      onExit(worker, code, signal) {
        workers.delete(worker);
        if (stopping) return;
        console.error(`worker ${worker.pid} ended (${signal ?? code})`);
        if (served) {
          start(poolShare);
        } else {
          // It would fail the same way again.
          process.exitCode = 1;
          stop();
        }
      },
    });
    workers.add(worker);
  }

  function stop(): void {
    stopping = true;
    for (const worker of workers) worker.kill("SIGTERM");
  }

  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  for (const poolShare of shares(poolSize, processes)) start(poolShare);
}

/** Divides `total` into `count` shares that add up to it, but none is below 1. */
function shares(total: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) =>
    Math.max(1, Math.floor((total + count - 1 - index) / count)),
  );
}
