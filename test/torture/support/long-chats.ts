/**
 * Clients that carry on chats and send them completely each time, so that the gateway stores reasoning, recalls it, and
 * keeps what it has read in its caches.
 */
import type { Faults } from './fault-list.ts'
import type { Random } from './random.ts'

const ROUNDS_PER_CHAT = 12
const MAX_ANSWER_MS = 60_000

interface ChatMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

export interface LongChats {
  /** Resolves to the number of answers when each client has read its last one. */
  readonly stop: () => Promise<number>
}

export function startLongChats(
  url: string,
  clients: number,
  random: Random,
  faults: Faults,
): LongChats {
  const stopping = new AbortController()
  let answers = 0
  const chat = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const messages: ChatMessage[] = []
      for (let round = 0; round < ROUNDS_PER_CHAT && !stopping.signal.aborted; round += 1) {
        const text = createText(random)
        messages.push({ role: 'user', content: `/think ${text}\n/say ${text}` })
        const content = await requestAnswer(url, messages)
        if (content === null) return faults.add('failed', 'a chat got no answer')
        messages.push({ role: 'assistant', content })
        answers += 1
      }
    }
  }
  const running = Array.from({ length: clients }, chat)
  return {
    async stop() {
      stopping.abort()
      await Promise.all(running)
      return answers
    },
  }
}

/** A text of up to 4,000 characters, half of them of two bytes each. */
function createText(random: Random): string {
  const word = random.pick(['words ', 'слова '])
  return `${random.below(1e9)} ${word.repeat(1 + random.below(650))}end.`
}

async function requestAnswer(
  url: string,
  messages: readonly ChatMessage[],
): Promise<string | null> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages }),
    signal: AbortSignal.timeout(MAX_ANSWER_MS),
  }).catch(() => null)
  if (response?.status !== 200) return null
  const { choices } = (await response.json()) as {
    readonly choices: readonly { readonly message: { readonly content: string } }[]
  }
  return choices[0]?.message.content ?? null
}
