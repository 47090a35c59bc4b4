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
import { PROFILES, type Profile } from '../../support/open-webui/headers.ts'
import { play, shortened, type MadeUp } from '../../support/open-webui/play.ts'
import type { Connection } from '../../support/open-webui/to-body.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'

const RUNS = Number(process.env['OPEN_WEBUI_RUNS'] ?? 60)
const SEED = Number(process.env['OPEN_WEBUI_SEED'] ?? 2)

const towns = new Map<Profile, Town>()
beforeAll(async () => {
  for (const profile of PROFILES) towns.set(profile, await startTown(profile))
})
afterAll(async () => {
  for (const town of towns.values()) await town.close()
})

function townOf(profile: Profile): Town {
  const town = towns.get(profile)
  if (town === undefined) throw new Error(`There is no ${profile}.`)
  return town
}

const anyChat: fc.Arbitrary<MadeUp> = fc.record({
  profile: fc.constantFrom(...PROFILES),
  model: fc.constantFrom('gpt-5', 'claude-opus-5'),
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
