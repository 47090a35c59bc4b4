/** No item of another chat, user or tenant ever arrives, by whatever a client may bring. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Account } from '../../support/open-webui/client.ts'
import { PROFILES } from '../../support/open-webui/headers.ts'
import { linesOf } from '../../support/open-webui/lines.ts'
import { nextNumber, scriptOf, type Planned } from '../../support/open-webui/script.ts'
import { openChat } from '../../support/open-webui/chat.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'

/** Asks in a copy of somebody's chat, and says what reasoning came along. */
async function thoughtsInCopy(town: Town, owner: Partial<Account>, thief: Partial<Account>) {
  const story = town.story(owner)
  await story.ask('RT')
  await story.ask('RTRT')
  const copy = story.chat.clone({ ...story.account, ...thief })
  const text = `Q${nextNumber()} and what is this?`
  const rounds = scriptOf('T')
  town.upstream.plan(text, 'gpt-5', rounds)
  await copy.ask(text)
  return thoughtsOf(rounds)
}

function thoughtsOf(rounds: readonly Planned[]): readonly string[] {
  const lines = rounds.flatMap(({ received }) =>
    received === null ? ['nothing'] : linesOf(received),
  )
  return lines.filter((line) => /^(thought: |nothing)/.test(line))
}

describe.concurrent.each(PROFILES.filter((profile) => profile !== 'bare'))('%s', (profile) => {
  let town: Town
  beforeAll(async () => void (town = await startTown(profile)))
  afterAll(() => town.close())

  test('a shared chat that another user copied is remembered for its owner alone (C132)', async () => {
    expect(await thoughtsInCopy(town, {}, {})).toHaveLength(3)
    expect(await thoughtsInCopy(town, {}, { user: randomUUID() })).toEqual([])
  })

  test('two temporary chats of one tab do not mix (C126, C132)', async () => {
    const tab = { id: 'local:of-one-tab' }
    const account = town.account()
    const [one, two] = [town.story(account, tab), town.story(account, tab)]
    await one.ask('RT')
    await two.ask('RT')
    await one.ask('RC|RT')
    await two.ask('RT')
    await one.ask('RT')
    expect([...one.trouble(), ...two.trouble()]).toEqual([])
  })
})

test.concurrent.each(PROFILES)(
  'the key of another tenant finds nothing, %s (C132)',
  async (profile) => {
    const town = await startTown(profile, { BACKSTORY_KEYS: 'one:key-one,two:key-two' })
    try {
      expect(await thoughtsInCopy(town, { key: 'key-one' }, { key: 'key-one' })).toHaveLength(3)
      expect(await thoughtsInCopy(town, { key: 'key-one' }, { key: 'key-two' })).toEqual([])
    } finally {
      await town.close()
    }
  },
)

describe.concurrent.each(PROFILES)('%s', (profile) => {
  let town: Town
  beforeAll(async () => void (town = await startTown(profile)))
  afterAll(() => town.close())

  test('the same words in two chats do not bring the reasoning of the other (C132)', async () => {
    const account = town.account()
    const mine = openChat({ account, model: 'gpt-5' })
    const other = openChat({ account, model: 'gpt-5' })
    const [asked, askedThere] = [`Q${nextNumber()} weather?`, `Q${nextNumber()} dinner?`]
    const same = scriptOf('RT')
    const thought = scriptOf('R')[0]?.beats[0]
    const twin = same.map((planned) => ({
      ...planned,
      beats: planned.beats.map((beat) => (beat.type === 'thought' ? (thought ?? beat) : beat)),
    }))
    town.upstream.plan(asked, 'gpt-5', same)
    town.upstream.plan(askedThere, 'gpt-5', twin)
    await mine.ask(asked)
    await other.ask(askedThere)
    const next = `Q${nextNumber()} really?`
    const rounds = scriptOf('T')
    town.upstream.plan(next, 'gpt-5', rounds)
    await mine.ask(next)
    const own = same[0]?.beats[0]
    expect(thoughtsOf(rounds)).toEqual([
      `thought: ${own !== undefined && 'text' in own ? own.text : ''}`,
    ])
  })
})
