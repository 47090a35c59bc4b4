/**
 * An upstream that thinks, then speaks slowly, then thinks and speaks again, over Chat Completions and
 * over Responses. In each chat, which its first message names, and in each round of it, which is how
 * often the user has spoken, it thinks and says what no other does: so that it can be told from a
 * request whose thoughts have come back.
 */
import { answerJson, answerSse, startUpstream, type Received, type Upstream } from './upstream.ts'
import { chatStream, chatWhole, responsesStream } from './wires.ts'

export interface SlowThinker extends Upstream {
  /** How long it takes for each of its pieces. */
  stepMs: number
  /** The thoughts that came with the newest request of a chat, in their order. */
  readonly thoughtsSent: (chat: string) => readonly string[]
  /** Accounts of a gateway by which it is reached, one for each wire. The models are `c` and `r`. */
  readonly accounts: readonly Record<string, unknown>[]
}

/** How a user begins a chat of this name. */
export function openingOf(chat: string): string {
  return `What is a lighthouse for? (${chat})`
}

/** What is thought first, and after a while. */
export function thoughtsOf(chat: string, round: number): readonly [string, string] {
  return [`<thought ${chat} ${round}a>`, `<thought ${chat} ${round}b>`]
}

const THOUGHTS = /<thought [^>]*>/g
const PARAGRAPHS = ['It warns ships', 'of rocks.\n\nIt guides', 'them home.\n\nAnd it shines.']

export async function startSlowThinker(stepMs: number): Promise<SlowThinker> {
  const upstream = await startUpstream()
  const at = { baseUrl: upstream.url }
  const quirks = { reasoningField: 'reasoning_content', reasoningOn: 'all' }
  const thinker: SlowThinker = Object.assign(upstream, {
    stepMs,
    thoughtsSent: (chat: string) =>
      upstream.received.findLast((received) => chatOf(received) === chat)?.text.match(THOUGHTS) ??
      [],
    accounts: [
      { name: 'chat', wire: 'chat', models: ['c'], quirks, ...at },
      { name: 'responses', wire: 'responses', models: ['r'], ...at },
    ],
  })
  thinker.behave = (response, received) => {
    const [first, second] = thoughtsOf(chatOf(received), roundOf(received))
    const text = `${PARAGRAPHS.join(' ')} (${roundOf(received)})`
    if (received.json['stream'] !== true) {
      return answerJson(200, chatWhole({ reasoning: first, text }))(response, received)
    }
    const pieces = received.path.endsWith('/chat/completions')
      ? [
          ...chatStream({ reasoning: first }).slice(0, -3),
          ...PARAGRAPHS.flatMap((words) => chatStream({ text: words }).slice(1, -3)),
          ...chatStream({ reasoning: second, text: `(${roundOf(received)})` }).slice(1),
        ]
      : responsesStream({ reasoning: first, text })
    return answerSse(pieces, 'end', thinker.stepMs)(response, received)
  }
  return thinker
}

function chatOf({ text }: Received): string {
  return /lighthouse for\? \(([^)]*)\)/.exec(text)?.[1] ?? ''
}

function roundOf({ json }: Received): number {
  const said = (json['messages'] ?? json['input']) as readonly { readonly role?: string }[]
  return said.filter(({ role }) => role === 'user').length
}
