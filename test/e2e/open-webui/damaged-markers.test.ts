/** Damaged markers: the model gets the same prompt whatever happened to them, and never sees a marker. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAMAGES } from '../../support/open-webui/damage-markers.ts'
import { promptLines } from '../../support/open-webui/prompt-lines.ts'
import { shownText } from '../../support/open-webui/stored-item.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import { MARKER } from '../../support/open-webui/check-answer.ts'

let setup: TestSetup
beforeAll(async () => void (setup = await startTestSetup()))
afterAll(() => setup.close())

describe.concurrent.each(['gpt-5', 'claude-opus-5'])(
  'turn markers of %s that Open WebUI sends back damaged',
  (model) => {
    test.each(Object.entries(DAMAGES))(
      'the gateway recalls all items of a chat even if its turn markers are %s (C131)',
      async (_, inlet) => {
        const session = setup.session({ inlet }, { model })
        const first = await session.ask('RT')
        await session.ask('RC|RT')
        await session.ask('RTRT')
        await session.regenerate('RT')
        await session.ask('T')
        await session.editQuestion('RT')
        await session.ask('RT')
        session.chat.goTo(first.node.id)
        await session.ask('RT')
        await session.ask('RT')
        expect(session.problems()).toEqual([])
      },
    )
  },
)

test.concurrent('an unknown turn marker is removed and has no other effect (C7)', async () => {
  const foreign = '[01KQZ3V8M6T2X9R4B7C9]: #'
  const session = setup.session()
  await session.ask('RT')
  session.editAnswer((text) => `${foreign}\n\n${text}`)
  await session.ask('RT')
  await session.ask('RT')
  expect(session.problems()).toEqual([])
})

test.concurrent('a turn marker that was moved to unknown text restores nothing there (C132)', async () => {
  const session = setup.session(
    { inlet: DAMAGES['moved to another answer'] },
    { hasMarkers: false },
  )
  await session.ask('~T')
  await session.ask('RX|RTRT')
  session.editAnswer((text) => `${text}\n\nAnd so on.`)
  await session.ask('RT')
  expect(session.problems()).toEqual([])
})

test.concurrent('a turn marker inside a code fence is ignored', async () => {
  const account = setup.account()
  const [mine, other] = [setup.session(account), setup.session(account)]
  await mine.ask('RT')
  const { node } = await other.ask('RT')
  const [marker = 'no marker'] = shownText(node.items).match(MARKER) ?? []
  mine.editAnswer((text) => `${text}\n\n\`\`\`\n${marker}\n\`\`\``)
  await mine.ask('T')
  const lines = promptLines(mine.received.at(-1) ?? {})
  expect(lines.filter((line) => line.startsWith('thought: '))).toHaveLength(1)
})
