/** Isolation: no request of a client brings back an item of another chat, user or tenant. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Account } from '../../support/open-webui/client.ts'
import { PROFILES } from '../../support/open-webui/headers.ts'
import { promptLines } from '../../support/open-webui/prompt-lines.ts'
import { nextNumber, parseScript, type PlannedAnswer } from '../../support/open-webui/script.ts'
import { openChat } from '../../support/open-webui/chat.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

/** Asks in a copy of the owner's chat as another account, and returns the reasoning that was sent. */
async function reasoningInCopy(setup: TestSetup, owner: Partial<Account>, thief: Partial<Account>) {
  const session = setup.session(owner)
  await session.ask('RT')
  await session.ask('RTRT')
  const copy = session.chat.clone({ ...session.account, ...thief })
  const text = `Q${nextNumber()} and what is this?`
  const rounds = parseScript('T')
  setup.upstream.plan(text, 'gpt-5', rounds)
  await copy.ask(text)
  return thoughtsOf(rounds)
}

function thoughtsOf(rounds: readonly PlannedAnswer[]): readonly string[] {
  const lines = rounds.flatMap(({ received }) =>
    received === null ? ['nothing'] : promptLines(received),
  )
  return lines.filter((line) => /^(thought: |nothing)/.test(line))
}

describe.concurrent.each(PROFILES.filter((profile) => profile !== 'bare'))(
  'isolation of shared and temporary chats with the header profile "%s"',
  (profile) => {
    let setup: TestSetup
    beforeAll(async () => void (setup = await startTestSetup(profile)))
    afterAll(() => setup.close())

    test('a shared chat is recalled for its owner, not for a user who copied it (C132)', async () => {
      expect(await reasoningInCopy(setup, {}, {})).toHaveLength(3)
      expect(await reasoningInCopy(setup, {}, { user: randomUUID() })).toEqual([])
    })

    test('two temporary chats in one browser tab exchange no items (C126, C132)', async () => {
      const tab = { id: 'local:of-one-tab' }
      const account = setup.account()
      const [one, two] = [setup.session(account, tab), setup.session(account, tab)]
      await one.ask('RT')
      await two.ask('RT')
      await one.ask('RC|RT')
      await two.ask('RT')
      await one.ask('RT')
      expect([...one.problems(), ...two.problems()]).toEqual([])
    })
  },
)

test.concurrent.each(PROFILES)(
  'the API key of another tenant recalls nothing, with the header profile "%s" (C132)',
  async (profile) => {
    const setup = await startTestSetup(profile, { BACKSTORY_KEYS: 'one:key-one,two:key-two' })
    try {
      expect(await reasoningInCopy(setup, { key: 'key-one' }, { key: 'key-one' })).toHaveLength(3)
      expect(await reasoningInCopy(setup, { key: 'key-one' }, { key: 'key-two' })).toEqual([])
    } finally {
      await setup.close()
    }
  },
)

describe.concurrent.each(PROFILES)(
  'isolation of identical texts with the header profile "%s"',
  (profile) => {
    let setup: TestSetup
    beforeAll(async () => void (setup = await startTestSetup(profile)))
    afterAll(() => setup.close())

    test('two chats with identical texts do not exchange reasoning (C132)', async () => {
      const account = setup.account()
      const mine = openChat({ account, model: 'gpt-5' })
      const other = openChat({ account, model: 'gpt-5' })
      const [asked, askedThere] = [`Q${nextNumber()} weather?`, `Q${nextNumber()} dinner?`]
      const same = parseScript('RT')
      const thought = parseScript('R')[0]?.parts[0]
      const twin = same.map((planned) => ({
        ...planned,
        parts: planned.parts.map((part) => (part.type === 'thought' ? (thought ?? part) : part)),
      }))
      setup.upstream.plan(asked, 'gpt-5', same)
      setup.upstream.plan(askedThere, 'gpt-5', twin)
      await mine.ask(asked)
      await other.ask(askedThere)
      const next = `Q${nextNumber()} really?`
      const rounds = parseScript('T')
      setup.upstream.plan(next, 'gpt-5', rounds)
      await mine.ask(next)
      const own = same[0]?.parts[0]
      expect(thoughtsOf(rounds)).toEqual([
        `thought: ${own !== undefined && 'text' in own ? own.text : ''}`,
      ])
    })
  },
)
