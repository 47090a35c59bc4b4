/** Plays conversations under one policy after the other, and says what each costs beside full replay. */
import type { Contestant } from './policy-candidates.ts'
import { costOf, NOTHING_YET, together, type Measures } from './policy-cost-metrics.ts'
import { play } from './simulate-conversation.ts'
import type { Script } from './conversation-script.ts'

export interface Standing {
  readonly name: string
  /** Of all conversations together. */
  readonly measures: Measures
  /** What it costs, with full replay at 1. */
  readonly ofReplay: number
  /** Whether it can be told from counts alone where it takes a step. */
  readonly hasKnownSteps: boolean
  readonly byScript: readonly Measures[]
}

export interface Comparison {
  readonly scripts: readonly Script[]
  readonly contestants: readonly Contestant[]
  /** What they are measured by, whether it is among them or not. */
  readonly replay: Contestant
  /** Whether the model holds its reasoning to its prefix. */
  readonly binds: boolean
}

/** `onPlayed` is told after each conversation. */
export function compare(
  { scripts, contestants, replay, binds }: Comparison,
  onPlayed: (contestant: string, script: string) => void = () => {},
): readonly Standing[] {
  const playAll = (contestant: Contestant) =>
    scripts.map((script) => {
      const measures = play(script, contestant, binds)
      onPlayed(contestant.name, script.name)
      return measures
    })
  const replayed = playAll(replay)
  const whole = costOf(sum(replayed))
  return contestants.map((contestant) => {
    const byScript = contestant === replay ? replayed : playAll(contestant)
    const measures = sum(byScript)
    const { name, stepOf } = contestant
    const ofReplay = whole === 0 ? 1 : costOf(measures) / whole
    return { name, measures, ofReplay, hasKnownSteps: stepOf !== null, byScript }
  })
}

function sum(parts: readonly Measures[]): Measures {
  return parts.reduce(together, NOTHING_YET)
}
