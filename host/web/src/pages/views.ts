// The views of an experiment, in the order of their tabs.
import type { JSX } from "preact";
import type { PageProps } from "../context";
import { DecisionsPage } from "./decisions";
import { LineagePage } from "./lineage";
import { ParallelPage } from "./parallel";
import { ParametersPage } from "./parameters";
import { ParetoPage } from "./pareto";
import { FilePage, JournalPage, LogPage, ResourcesPage } from "./record";
import { TimelinePage } from "./timeline";

export interface View {
  name: string;
  title: string;
  page?: (p: PageProps) => JSX.Element;
}

export const views: View[] = [
  { name: "overview", title: "Overview" },
  { name: "trials", title: "Trials" },
  { name: "parallel", title: "Parallel", page: ParallelPage },
  { name: "parameters", title: "Parameters", page: ParametersPage },
  { name: "pareto", title: "Pareto", page: ParetoPage },
  { name: "timeline", title: "Timeline", page: TimelinePage },
  { name: "lineage", title: "Lineage", page: LineagePage },
  { name: "decisions", title: "Decisions", page: DecisionsPage },
  { name: "resources", title: "Resources", page: ResourcesPage },
  { name: "log", title: "Host log", page: LogPage },
  { name: "journal", title: "Journal", page: JournalPage },
  { name: "file", title: "File", page: FilePage },
];
