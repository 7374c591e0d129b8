// Why the best value has become worse below an open page. The last value of each trial counts: it falls when the trial
// reports a worse one, continues from an earlier checkpoint, or begins anew.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Ranked, Status, Trial } from "./api";
import { toNumber } from "./api";
import { number } from "./format";
import type { Source } from "./source";

interface Mark {
  best: Ranked;
  value: number;
}

// useFall returns a line about the best value that was, until there is one as good again; "" if nothing fell.
export function useFall(source: Source, x: string, status?: Status): string {
  const [said, say] = useState("");
  const high = useRef<Mark | undefined>(undefined);
  const turn = useRef(Promise.resolve()); // of one look after the other: the answers to an earlier one may come later
  const best = status?.best as Ranked | null | undefined;
  useEffect(() => {
    if (!status || status.front || source.made || best?.mean_of) return; // a mean is of trials that have ended: none falls
    const value = best ? toNumber(best.value) : NaN;
    turn.current = turn.current.then(async () => {
      const { metric, mode } = (await source.space(x)).objectives[0] ?? { metric: "", mode: "min" };
      const before = best && status.state === "interrupted" ? await highest(source, x, mode) : high.current;
      const fell = before && (!best || (mode === "max" ? value < before.value : value > before.value));
      if (!fell) high.current = best ? { best, value } : before;
      say(fell ? told(before, metric, await source.trial(x, String(before.best.number))) : "");
    }).catch(() => {}); // it is told at the next look
  }, [best?.number, String(best?.value), best?.attempts, status?.state]);
  return said;
}

// highest is the best value that any trial has reported. Nobody need have watched an experiment that was interrupted, and
// its curves show that value.
async function highest(source: Source, x: string, mode: string): Promise<Mark> {
  const best = await source.best(x, undefined, mode);
  return { best, value: toNumber(best.value) };
}

// told says what has become of a trial that had the best value.
function told({ best, value }: Mark, metric: string, now: Trial): string {
  const was = `It was ${number(value)}, by trial ${best.number}`;
  const last = now.metrics[metric];
  if (now.attempts > best.attempts) {
    return `${was}, which was started again${last === undefined ? " from the beginning: its results before that do not count"
      : `: it is at ${number(last)}, at iteration ${now.iteration}, and what it had reported beyond that does not count`}.`;
  }
  return last === undefined ? `${was}, whose results so far do not count any more.`
    : `${was}, which has reported ${number(last)} since: the last value of a trial counts.`;
}
