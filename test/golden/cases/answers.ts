/** One question and its answer: every model in every form of request, and odd upstreams. */
import type { GoldenCase, GoldenGroup } from '../golden-case.ts'
import { ask, FOUR_WIRES, MODELS, WAYS, type Way } from './ways.ts'

const QUESTIONS = {
  'is refused': 'Refuse this.',
  'is cut off': 'Go on for ever.',
}

export const ANSWERS: GoldenGroup = {
  name: 'answers',
  cases: [
    ...MODELS.flatMap((model, at) =>
      (at < FOUR_WIRES.length || model === 'demo' ? WAYS : waysOf(at)).map((way): GoldenCase => ({
        name: `${model}: ${way.name}`,
        play: ({ send }) => send(ask(way, model, 'Hello there!')),
      })),
    ),
    ...Object.entries(QUESTIONS).flatMap(([what, question]) =>
      FOUR_WIRES.flatMap((model, at) =>
        waysOf(at).map((way): GoldenCase => ({
          name: `${model} ${what}: ${way.name}`,
          play: ({ send }) => send(ask(way, model, question)),
        })),
      ),
    ),
    ...FOUR_WIRES.flatMap((model) =>
      WAYS.filter(({ stream }) => stream).map((way): GoldenCase => ({
        name: `${model} streams oddly, in small pieces: ${way.name}`,
        play: ({ send, services }) => {
          Object.assign(services, { manner: 'odd', cut: 37 })
          return send(ask(way, model, 'Hello there!'))
        },
      })),
    ),
  ],
}

/** Alternates between the even and the odd forms of request. */
function waysOf(at: number): readonly Way[] {
  return WAYS.filter((_, number) => number % 2 === at % 2)
}
