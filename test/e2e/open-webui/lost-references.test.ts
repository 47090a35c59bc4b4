/**
 * Random chats with an Open WebUI of either generation, any set of headers, and references that get lost: nothing is ever
 * attached to the wrong place, and what the user deletes stays deleted. With all headers everything is recalled; with
 * fewer references, reasoning may be left out. `OPEN_WEBUI_RUNS` sets how many chats are tried.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyAction, performAction, type Action } from '../../support/open-webui/actions.ts'
import type { ChatSession } from '../../support/open-webui/chat-session.ts'
import type { ChatPosition } from '../../support/open-webui/headers.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import type { ChatMessage } from '../../support/open-webui/to-messages.ts'

const RUNS = Number(process.env['OPEN_WEBUI_RUNS'] ?? 40)
const SEED = Number(process.env['OPEN_WEBUI_SEED'] ?? 3)

/** The headers that an administrator has left out, or that an older version does not fill. */
const HEADER_LOSSES: Readonly<Record<string, (place: ChatPosition) => Partial<ChatPosition>>> = {
  none: (place) => place,
  'no parent': ({ chat, message, task }) => ({ chat, message, task }),
  'no message': ({ chat, userParent, task }) => ({ chat, userParent, task }),
  'no ids': ({ task }) => ({ task }),
  unfilled: (place) => ({ ...place, userParent: '{{USER_MESSAGE_PARENT_ID}}' }),
}

interface LossyChat {
  readonly headers: string
  /** Every nth message loses its references; 0 for none. */
  readonly lostDetails: number
  readonly isOld: boolean
  readonly connection: 'chat' | 'responses'
  readonly model: string
  readonly actions: readonly (
    | Action
    | { readonly do: 'delete'; readonly what: 'thought' | 'call' }
  )[]
}

const anyDeletion = fc.record({
  do: fc.constant('delete' as const),
  what: fc.constantFrom('thought' as const, 'call' as const),
})

const anyChat: fc.Arbitrary<LossyChat> = fc.record({
  headers: fc.constantFrom(...Object.keys(HEADER_LOSSES)),
  lostDetails: fc.constantFrom(0, 0, 1, 3),
  isOld: fc.boolean(),
  connection: fc.constantFrom('chat' as const, 'chat' as const, 'responses' as const),
  model: fc.constantFrom('gpt-5', 'claude-opus-5', 'glm-5'),
  actions: fc.array(
    fc.oneof({ weight: 6, arbitrary: anyAction }, { weight: 1, arbitrary: anyDeletion }),
    {
      minLength: 8,
      maxLength: 25,
    },
  ),
})

let respected: TestSetup
let undone: TestSetup
beforeAll(async () => {
  respected = await startTestSetup('full', {}, 0)
  undone = await startTestSetup('full', { DELETIONS: 'undone' }, 0)
})
afterAll(() => Promise.all([respected.close(), undone.close()]))

async function playChat(chat: LossyChat): Promise<readonly unknown[]> {
  const { headers, lostDetails, isOld, connection, model, actions } = chat
  // A reference that gets lost on its way looks like a thought that the user has deleted.
  const setup = lostDetails > 0 ? undone : respected
  const tellPosition = HEADER_LOSSES[headers] ?? ((place: ChatPosition) => place)
  const inlet = (messages: readonly ChatMessage[]) =>
    lostDetails === 0
      ? messages
      : messages.map((message, at) => loseDetails(message, at % lostDetails))
  const account = { connection, tellPosition, inlet, sendsDetailsOfOtherModels: isOld }
  const isNamed = headers === 'none'
  let session: ChatSession = setup.session(account, { model, hasMarkers: isNamed })
  for (const action of actions) {
    if (action.do !== 'delete') session = await performAction(session, action)
    // Only these are deletions: calls, and thoughts that a client sends back.
    else if (lostDetails === 0 && (action.what === 'call' || (isNamed && connection === 'chat')))
      session.deleteLast(action.what)
    const problems = [...session.gaps, ...session.faults]
    if (problems.length > 0) return problems
  }
  return []
}

function loseDetails(message: ChatMessage, at: number): ChatMessage {
  const { reasoning_details: _, ...rest } = message
  return at === 0 ? rest : message
}

test(
  'with any loss of references, nothing is attached to the wrong place, and deletions are kept',
  async () => {
    const waiting = fc.sample(anyChat, { numRuns: RUNS, seed: SEED })
    const failures: unknown[] = []
    const player = async (): Promise<void> => {
      for (let chat = waiting.shift(); chat !== undefined; chat = waiting.shift()) {
        const problems = await playChat(chat)
        if (problems.length > 0) failures.push({ chat, problems })
      }
    }
    await Promise.all(Array.from({ length: 10 }, player))
    expect({ seed: SEED, failures: failures.slice(0, 1) }).toEqual({ seed: SEED, failures: [] })
  },
  Math.max(120_000, RUNS * 3_000),
)
