import { serve, trainable } from "tunehost";
import { plugin } from "./plugin.js";

serve(trainable(plugin));
