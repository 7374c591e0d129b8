// Plugins for tunehost as WASM modules. A plugin's file imports from here, registers its
// plugin (searcher, scheduler, trainable) and exports the module's functions:
//
//   export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "tunehost-assemblyscript/assembly";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "./abi";
export { Expr, Op } from "./expr";
export { Level, log } from "./host";
export { Decision, Event, EventKind, Info, Objective, Problem, Request, Traits, Trial, Verdict } from "./messages";
export { Kind, Param } from "./param";
export { scheduler, Scheduler, searcher, Searcher, trainable, Trainable } from "./plugin";
export { Random } from "./random";
export { Run, Saver } from "./run";
export { Drawer, Seen, Space, Suggestion } from "./space";
export { Values } from "./values";
