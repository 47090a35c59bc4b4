/**
 * Models whose reasoning is good only behind the very words that it was made behind. What Open WebUI
 * changes later (a document that is gone, an edited answer) costs the reasoning behind it, is told in
 * the notes, and never costs the answer.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Story } from '../../support/open-webui/story.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'

let town: Town
beforeAll(async () => void (town = await startTown()))
afterAll(() => town.close())

const onlyExplained = ({ gaps, faults }: Story) => expect([...gaps, ...faults]).toEqual([])

describe.concurrent.each(['claude-opus-5-5', 'gpt-5.6'])('%s', (model) => {
  const story = (): Story => town.story({}, { model, system: 'You are a lighthouse.' })

  test('a chat that only grows loses nothing', async () => {
    const told = story()
    await told.ask('RTCC|RC|RT')
    await told.ask('RTRT')
    await told.regenerate('RT')
    await told.ask('T')
    await told.ask('R~T')
    await told.ask('RT')
    expect(told.trouble()).toEqual([])
  })

  test('a document that is gone takes along the reasoning that was made behind it', async () => {
    const told = story()
    await told.ask('RT')
    await told.ask('RT', { document: 'The word is swordfish.' })
    await told.ask('RT')
    await told.ask('RT')
    onlyExplained(told)
    expect(told.explained.length).toBeGreaterThan(0)
    for (const { missing } of told.explained) expect(missing).toHaveLength(1)
  })

  test('an answer in other words takes along what was made behind it', async () => {
    const told = story()
    const first = await told.ask('RT')
    const second = await told.ask('RC|RT')
    told.chat.goTo(first.node.id)
    told.editAnswer((text) => text.replace('grey', 'blue'))
    told.chat.goTo(second.node.id)
    await told.ask('RT')
    await told.ask('RT')
    onlyExplained(told)
    expect(told.explained.length).toBeGreaterThan(0)
  })
})

describe.concurrent('tools of the provider', () => {
  test('come back where they were used, with the reasoning around them', async () => {
    const told = town.story()
    await told.ask('RHRT')
    await told.ask('RHT')
    await told.regenerate('RT')
    await told.ask('RT')
    expect(told.trouble()).toEqual([])
  })
})
