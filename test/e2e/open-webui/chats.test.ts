/**
 * What people do in Open WebUI, each in every way in which it may tell of itself. Whatever they do, the
 * model is sent what a perfect memory would send, and the answers are what Open WebUI can bear.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROFILES } from '../../support/open-webui/headers.ts'
import type { Story } from '../../support/open-webui/story.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'

const MODELS = ['gpt-5', 'claude-opus-5']
const WAYS = PROFILES.flatMap((profile) => MODELS.map((model) => ({ profile, model })))

describe.concurrent.each(WAYS)('$profile, $model', ({ profile, model }) => {
  let town: Town
  beforeAll(async () => void (town = await startTown(profile)))
  afterAll(() => town.close())

  const story = (): Story => town.story({}, { model })
  const isPerfect = (told: Story) => expect(told.trouble()).toEqual([])

  test('a new chat, with its tools, and the next turns (C126, C130)', async () => {
    const told = story()
    await told.ask('RTCC|RC|RT')
    await told.ask('RT')
    await told.ask('T')
    await told.ask('RX|RTRT')
    await told.ask('RT')
    isPerfect(told)
  })

  test('an answer that says nothing is remembered all the same', async () => {
    const told = story()
    // Only the wire of the one has tools of the provider's own.
    const search = model === 'gpt-5' ? 'RH' : 'R'
    await told.ask('RT')
    await told.ask(search)
    await told.ask('RT')
    await told.ask(`RC|${search}`)
    await told.goOn(search)
    await told.ask('RT')
    // A thought that led to nothing is left out, and the notes say so.
    expect([...told.gaps, ...told.faults]).toEqual([])
    if (model === 'gpt-5') isPerfect(told)
  })

  test('regenerating, with and without a suggestion, sees nothing of the other answers (C126)', async () => {
    const told = story()
    const first = await told.ask('RT')
    await told.regenerate('RC|RT')
    await told.ask('RT')
    await told.regenerate('RC|RT', 'Make it shorter')
    await told.ask('RT')
    told.chat.goTo(first.node.id)
    await told.ask('RT')
    isPerfect(told)
  })

  test('a question in other words begins a branch, and the old one can be gone back to (C126)', async () => {
    const told = story()
    await told.ask('RT')
    const old = await told.ask('RC|RT')
    await told.editQuestion('RT')
    await told.ask('RT')
    told.chat.goTo(old.node.id)
    await told.ask('RT')
    isPerfect(told)
  })

  test('an answer whose words were edited keeps what else belongs to it (C126)', async () => {
    const told = story()
    await told.ask('RT')
    await told.ask('RC|RT')
    told.editAnswer((text) => text.replace('grey', 'blue'))
    await told.ask('RT')
    isPerfect(told)
  })

  test('an answer is continued, and continued again (C126)', async () => {
    const told = story()
    await told.ask('RT')
    await told.goOn('T')
    await told.goOn('RT')
    await told.ask('T')
    await told.goOn('RC|RT')
    await told.ask('RT')
    isPerfect(told)
  })

  test('an answer goes on with tools', async () => {
    const told = story()
    await told.ask('RTRT')
    await told.goOn('RTC|RT')
    await told.ask('RT')
    // Without markers nobody can tell where one turn ends and the next begins.
    if (profile === 'bare') expect([...told.gaps, ...told.faults]).toEqual([])
    else isPerfect(told)
  })

  test('what was heard before Stop stays, with what led to it (C126)', async () => {
    const told = story()
    await told.ask('RT')
    await told.ask('R~T')
    await told.ask('RTR~T')
    await told.ask('RC|R~T')
    await told.ask('~R')
    await told.ask('R~C')
    await told.ask('RT')
    isPerfect(told)
  })

  test('an answer that failed leaves an empty place, which harms nothing', async () => {
    const told = story()
    await told.ask('RT')
    await told.ask('!')
    await told.ask('RC|!')
    await told.regenerate('RT')
    await told.ask('RT')
    isPerfect(told)
  })

  test('a cloned chat remembers what was said in the one that it was made from (C7, C126)', async () => {
    const told = story()
    await told.ask('RC|RT')
    await told.ask('RT')
    const copy = told.clone()
    await copy.ask('RT')
    await told.ask('RT')
    isPerfect(copy)
    isPerfect(told)
  })

  test('a document is there for one turn, a picture for good (C126)', async () => {
    const told = story()
    await told.ask('RT', { document: 'The word is swordfish.' })
    await told.ask('RC|RT')
    await told.ask('RT', { image: PIXEL })
    await told.ask('RT')
    isPerfect(told)
  })

  test('a picture is there in every step of a tool loop, and in later turns (C126)', async () => {
    const told = story()
    await told.ask('RC|RCC|RT', { image: PIXEL })
    await told.ask('RC|RT')
    expect(told.received.map((body) => JSON.stringify(body).split(PIXEL_DATA).length - 1)).toEqual(
      Array.from({ length: 5 }, () => 1),
    )
    isPerfect(told)
  })
})

const PIXEL_DATA =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PIXEL = `data:image/png;base64,${PIXEL_DATA}`
