/**
 * Asks an upstream, and goes on asking it for as long as it calls tools of the house. Whoever reads the
 * answer reads one: it flows, and is taken back, like that of any other upstream.
 */
import type { Caller } from '../../core/client/caller.ts'
import { joinRounds } from './rounds/merge-round-events.ts'
import type { World } from '../dependencies-interface.ts'
import type { Answer } from '../send/upstream-answer-types.ts'
import { ask, type Asking } from '../send/send-with-fallback.ts'
import { houseRounds } from './rounds/run-tool-rounds.ts'
import { inRounds } from './rounds/stream-tool-rounds.ts'

/** For whom, and under which name the answer is kept. */
export interface Asker {
  readonly caller: Caller
  readonly turnId: string
  /** Is told of what goes on behind the answer. */
  readonly after: (work: Promise<unknown>) => void
}

export interface AskingOn extends Asking {
  /** Takes back what is asked, and all that would be asked. */
  readonly cancel: () => void
}

export async function askWithHouse(
  { cancel, ...asking }: AskingOn,
  asker: Asker,
  world: World,
): Promise<Answer> {
  const asked = await ask(asking, world)
  const { prepared } = asked
  if (prepared.house.length === 0) return asked
  const { first, ...rounds } = houseRounds(asked, asking, asker, world)
  const answer = joinRounds(asker.turnId, first.names, prepared.items)
  const { isGone } = asking
  return {
    ...rounds,
    prepared,
    events: inRounds({ first, answer, isGone, cancel, log: world.log }),
  }
}
