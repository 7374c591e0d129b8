import { serve, scheduler } from "tunehost";
import { plugin } from "./plugin.js";

serve(scheduler(plugin));
