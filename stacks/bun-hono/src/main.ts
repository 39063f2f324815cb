import { serve } from "./serve.ts";
import { settings } from "./settings.ts";
import { runWorkers } from "./workers.ts";

if (settings.processes > 1) {
  runWorkers(settings);
} else {
  serve(settings);
}
