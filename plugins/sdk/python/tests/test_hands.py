"""Who may tell the results of trials that were handed out."""

import asyncio
import gc
import threading

from tunehost._hands import Hands, task


def test_a_thread_that_begins_to_tell_may_tell() -> None:
    """Also one that knows the trial by its id alone, while the program has not answered yet."""
    hands, begun, answered = Hands(), threading.Event(), threading.Event()
    hands.take("a")

    def tell() -> None:
        hands.tells("a")
        begun.set()
        answered.wait(60)
        hands.give("a")

    teller = threading.Thread(target=tell)
    assert not hands.others(["a"])
    teller.start()
    assert begun.wait(60) and hands.others(["a"])
    answered.set()
    teller.join()
    assert not hands.others(["a"])


def test_tasks_that_have_told_are_forgotten() -> None:
    """A thread tells each result with another task: run_coroutine_threadsafe makes one."""
    hands = Hands(task)

    async def tell(trial: str) -> None:
        hands.tells(trial)
        hands.give(trial)

    async def main() -> None:
        for number in range(100):
            hands.take(str(number))
            await asyncio.ensure_future(tell(str(number)))

    asyncio.run(main())
    gc.collect()
    assert len(hands._telling) < 5
