/**
 * An upstream that reasons, writes text slowly, and does both again, over Chat Completions and Responses. Its
 * texts name the chat (its first message) and the round (the number of user messages), so that recalled
 * reasoning is recognized in later requests.
 */
import { answerJson, answerSse, startUpstream, type Received, type Upstream } from './upstream.ts'
import { chatStream, chatBody, responsesStream } from './answer-formats.ts'

export interface SlowReasoningUpstream extends Upstream {
  /** The delay between two pieces. */
  stepMs: number
  /** Returns the reasoning in the latest request of a chat, in order. */
  readonly reasoningSent: (chat: string) => readonly string[]
  /** Accounts for a gateway, one for each wire. The models are `c` and `r`. */
  readonly accounts: readonly Record<string, unknown>[]
}

/** Returns the first user message of a chat with this name. */
export function firstMessageOf(chat: string): string {
  return `What is a lighthouse for? (${chat})`
}

/** Returns the reasoning before the text and in its middle. */
export function reasoningOf(chat: string, round: number): readonly [string, string] {
  return [`<thought ${chat} ${round}a>`, `<thought ${chat} ${round}b>`]
}

const THOUGHTS = /<thought [^>]*>/g
const PARAGRAPHS = ['It warns ships', 'of rocks.\n\nIt guides', 'them home.\n\nAnd it shines.']

export async function startSlowReasoningUpstream(stepMs: number): Promise<SlowReasoningUpstream> {
  const upstream = await startUpstream()
  const at = { baseUrl: upstream.url }
  const quirks = { reasoningField: 'reasoning_content', reasoningOn: 'all' }
  const reasoner: SlowReasoningUpstream = Object.assign(upstream, {
    stepMs,
    reasoningSent: (chat: string) =>
      upstream.received.findLast((received) => chatOf(received) === chat)?.text.match(THOUGHTS) ??
      [],
    accounts: [
      { name: 'chat', wire: 'chat', models: ['c'], quirks, ...at },
      { name: 'responses', wire: 'responses', models: ['r'], ...at },
    ],
  })
  reasoner.behave = (response, received) => {
    const [first, second] = reasoningOf(chatOf(received), roundOf(received))
    const text = `${PARAGRAPHS.join(' ')} (${roundOf(received)})`
    if (received.json['stream'] !== true) {
      return answerJson(200, chatBody({ reasoning: first, text }))(response, received)
    }
    const pieces = received.path.endsWith('/chat/completions')
      ? [
          ...chatStream({ reasoning: first }).slice(0, -3),
          ...PARAGRAPHS.flatMap((words) => chatStream({ text: words }).slice(1, -3)),
          ...chatStream({ reasoning: second, text: `(${roundOf(received)})` }).slice(1),
        ]
      : responsesStream({ reasoning: first, text })
    return answerSse(pieces, 'end', reasoner.stepMs)(response, received)
  }
  return reasoner
}

function chatOf({ text }: Received): string {
  return /lighthouse for\? \(([^)]*)\)/.exec(text)?.[1] ?? ''
}

function roundOf({ json }: Received): number {
  const said = (json['messages'] ?? json['input']) as readonly { readonly role?: string }[]
  return said.filter(({ role }) => role === 'user').length
}
