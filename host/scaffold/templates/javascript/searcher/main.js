import { serve, searcher } from "tunehost";
import { plugin } from "./plugin.js";

serve(searcher(plugin));
