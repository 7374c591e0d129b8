// What stands in the place of a part of a page that cannot be drawn: the whole page would be blank without it.
import type { ComponentChildren } from "preact";
import { Component } from "preact";
import { href } from "./route";
import { toContent } from "./ui";

interface Guarded {
  // at is where the reader is: at another place the part is drawn anew, whatever has become of it.
  at: string;
  // main says that it is all of the page's content.
  main?: boolean;
  children: ComponentChildren;
}

interface State {
  fault?: { of: unknown; at: string };
}

// Boundary says in a line what went wrong in what it has, with ways on.
export class Boundary extends Component<Guarded, State> {
  override state: State = {};

  override componentDidCatch(of: unknown): void {
    this.setState({ fault: { of, at: this.props.at } });
  }

  override componentDidUpdate(): void {
    if (this.state.fault && this.state.fault.at !== this.props.at) this.again();
  }

  private readonly again = (): void => this.setState({ fault: undefined });

  private readonly retry = (): void => {
    toContent(); // the button goes
    this.again();
  };

  override render({ at, main, children }: Guarded, { fault }: State): ComponentChildren {
    if (fault?.at !== at) return children;
    const line = <>
      <p class="failure" role="alert"><strong>✕</strong> This part of the page cannot be shown, which is a fault of the page: {String(fault.of)}. The experiment is not affected.</p>
      <div class="row"><button type="button" onClick={this.retry}>try again</button><a href={href([])}>all experiments</a></div></>;
    return main ? <main id="main" tabIndex={-1}>{line}</main> : line;
  }
}
