/** Whatever was done to the markers, the model is sent the same, and no model ever sees one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAMAGES } from '../../support/open-webui/damage.ts'
import { linesOf } from '../../support/open-webui/lines.ts'
import { shownText } from '../../support/open-webui/stored-item.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'
import { MARKER } from '../../support/open-webui/watch.ts'

let town: Town
beforeAll(async () => void (town = await startTown()))
afterAll(() => town.close())

describe.concurrent.each(['gpt-5', 'claude-opus-5'])('%s', (model) => {
  test.each(Object.entries(DAMAGES))('markers %s (C131)', async (_, inlet) => {
    const story = town.story({ inlet }, { model })
    const first = await story.ask('RT')
    await story.ask('RC|RT')
    await story.ask('RTRT')
    await story.regenerate('RT')
    await story.ask('T')
    await story.editQuestion('RT')
    await story.ask('RT')
    story.chat.goTo(first.node.id)
    await story.ask('RT')
    await story.ask('RT')
    expect(story.trouble()).toEqual([])
  })
})

test.concurrent('a marker of nobody is taken away, and costs nothing else (C7)', async () => {
  const foreign = '[01KQZ3V8M6T2X9R4B7C9]: #'
  const story = town.story()
  await story.ask('RT')
  story.editAnswer((text) => `${foreign}\n\n${text}`)
  await story.ask('RT')
  await story.ask('RT')
  expect(story.trouble()).toEqual([])
})

test.concurrent('a marker that was moved to words of which nothing is known attaches nothing to them (C132)', async () => {
  const story = town.story({ inlet: DAMAGES['in another answer'] }, { hasMarkers: false })
  await story.ask('~T')
  await story.ask('RX|RTRT')
  story.editAnswer((text) => `${text}\n\nAnd so on.`)
  await story.ask('RT')
  expect(story.trouble()).toEqual([])
})

test.concurrent('a marker in a fence names nothing', async () => {
  const account = town.account()
  const [mine, other] = [town.story(account), town.story(account)]
  await mine.ask('RT')
  const { node } = await other.ask('RT')
  const [marker = 'no marker'] = shownText(node.items).match(MARKER) ?? []
  mine.editAnswer((text) => `${text}\n\n\`\`\`\n${marker}\n\`\`\``)
  await mine.ask('T')
  const lines = linesOf(mine.received.at(-1) ?? {})
  expect(lines.filter((line) => line.startsWith('thought: '))).toHaveLength(1)
})
