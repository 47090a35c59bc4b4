/**
 * Any chat at all: people ask, stop, edit, go back, regenerate and clone in any order, and after each
 * step the model has been sent what a perfect memory would have sent. Where reasoning cannot go along,
 * as to another upstream, the notes say so; what never belonged there is never there.
 *
 * `OPEN_WEBUI_RUNS` is how many chats are tried, `OPEN_WEBUI_SEED` which.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyAction } from '../../support/open-webui/actions.ts'
import { DAMAGE_NAMES } from '../../support/open-webui/damage.ts'
import { PROFILES } from '../../support/open-webui/headers.ts'
import { play, shortened, type MadeUp, type Place } from '../../support/open-webui/play.ts'
import type { Connection } from '../../support/open-webui/to-body.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'

const RUNS = Number(process.env['OPEN_WEBUI_RUNS'] ?? 60)
const SEED = Number(process.env['OPEN_WEBUI_SEED'] ?? 2)

/** Models that think in no time, and models that leave a gateway time to write that down. */
const THINKING_MS = [0, 40]

const towns = new Map<string, Town>()
beforeAll(async () => {
  for (const profile of PROFILES) {
    for (const thinkingMs of THINKING_MS) {
      towns.set(`${profile} ${thinkingMs}`, await startTown(profile, {}, thinkingMs))
    }
  }
})
afterAll(async () => {
  for (const town of towns.values()) await town.close()
})

function townOf({ profile, thinkingMs }: Place): Town {
  const town = towns.get(`${profile} ${thinkingMs}`)
  if (town === undefined) throw new Error(`There is no ${profile}.`)
  return town
}

const anyChat: fc.Arbitrary<MadeUp> = fc.record({
  profile: fc.constantFrom(...PROFILES),
  thinkingMs: fc.constantFrom(...THINKING_MS),
  model: fc.constantFrom('gpt-5', 'claude-opus-5', 'glm-5'),
  connection: fc.constantFrom<Connection>('chat', 'chat', 'chat', 'responses', 'stateful'),
  damage: fc.option(fc.constantFrom(...DAMAGE_NAMES), { freq: 3 }),
  actions: fc.array(anyAction, { minLength: 10, maxLength: 40 }),
})

test(
  'whatever people do, the model is sent what a perfect memory would send',
  async () => {
    const chats = fc.sample(anyChat, { numRuns: RUNS, seed: SEED })
    const [first] = await play(chats, townOf)
    if (first === undefined) return
    const { chat, trouble } = await shortened(first, townOf)
    expect({ seed: SEED, chat, trouble }).toEqual({ seed: SEED, chat, trouble: [] })
  },
  Math.max(120_000, RUNS * 3_000),
)
