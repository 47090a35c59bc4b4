/**
 * Random chats: a user asks, stops, edits, goes back, regenerates and clones in any order, and each request
 * must equal what a client with a perfect memory would send. Reasoning that cannot be sent, e.g. to another
 * upstream, must have a note. `OPEN_WEBUI_RUNS` sets how many chats are tried, `OPEN_WEBUI_SEED` which ones.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyAction } from '../../support/open-webui/actions.ts'
import { DAMAGE_NAMES } from '../../support/open-webui/damage-markers.ts'
import { PROFILES } from '../../support/open-webui/headers.ts'
import {
  playChats,
  shortenFailure,
  type RandomChat,
  type ChatVariant,
} from '../../support/open-webui/play-random-chats.ts'
import type { Connection } from '../../support/open-webui/to-body.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

const RUNS = Number(process.env['OPEN_WEBUI_RUNS'] ?? 60)
const SEED = Number(process.env['OPEN_WEBUI_SEED'] ?? 2)

/** Models that answer without any delay, and models that leave the gateway time to store each item. */
const THINKING_MS = [0, 40]

const setups = new Map<string, TestSetup>()
beforeAll(async () => {
  for (const profile of PROFILES) {
    for (const thinkingMs of THINKING_MS) {
      setups.set(`${profile} ${thinkingMs}`, await startTestSetup(profile, {}, thinkingMs))
    }
  }
})
afterAll(async () => {
  for (const setup of setups.values()) await setup.close()
})

function setupOf({ profile, thinkingMs }: ChatVariant): TestSetup {
  const setup = setups.get(`${profile} ${thinkingMs}`)
  if (setup === undefined) throw new Error(`There is no ${profile}.`)
  return setup
}

const anyChat: fc.Arbitrary<RandomChat> = fc.record({
  profile: fc.constantFrom(...PROFILES),
  thinkingMs: fc.constantFrom(...THINKING_MS),
  model: fc.constantFrom('gpt-5', 'claude-opus-5', 'glm-5'),
  connection: fc.constantFrom<Connection>('chat', 'chat', 'chat', 'responses', 'stateful'),
  damage: fc.option(fc.constantFrom(...DAMAGE_NAMES), { freq: 3 }),
  actions: fc.array(anyAction, { minLength: 10, maxLength: 40 }),
})

test(
  'for any sequence of user actions in Open WebUI, each prompt equals that of a client that sends all items',
  async () => {
    const chats = fc.sample(anyChat, { numRuns: RUNS, seed: SEED })
    const [first] = await playChats(chats, setupOf)
    if (first === undefined) return
    const { chat, problems } = await shortenFailure(first, setupOf)
    expect({ seed: SEED, chat, problems }).toEqual({ seed: SEED, chat, problems: [] })
  },
  Math.max(120_000, RUNS * 3_000),
)
