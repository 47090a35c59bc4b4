/**
 * Generates a random conversation with an agent: 60 rounds, each with a question, up to three tool
 * calls and an answer. The same seed gives the same conversation. The lengths of tool outputs are
 * lognormal with a median of about 5,400 characters, so many are short and a few very long. Each
 * text begins with a unique name, so no two texts are equal.
 *
 * With images, each question has up to two, on average one; 10 % of them repeat an earlier image.
 * An image has as many characters as a text of 1000 tokens, because the gateway estimates an image
 * at 1000 tokens.
 */
import type { Item, Part } from '../core/item.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'
import type { ScriptExchange, ConversationScript } from './conversation-script.ts'

export const DEFAULT_ROUND_COUNT = 60

export interface ConversationOptions {
  readonly rounds?: number
  readonly hasImages?: boolean
  /** True for a conversation of questions and answers only, without tools. */
  readonly isChat?: boolean
  /** Factor for the length of questions and answers, e.g. 2 for twice the usual length. */
  readonly textLengthFactor?: number
  /** Length of each tool output, e.g. 2500; by default they vary. */
  readonly outputChars?: number | null
  /** Number of tool calls in each round; by default it varies from 0 to 3. */
  readonly callsPerRound?: number | null
  /** Length of each reasoning item; with 0, the model writes no reasoning. */
  readonly reasoningChars?: number
}

export function generateConversation(
  seed: number,
  {
    rounds = DEFAULT_ROUND_COUNT,
    hasImages = false,
    isChat = false,
    textLengthFactor = 1,
    outputChars = null,
    callsPerRound = null,
    reasoningChars = REASONING_CHARS,
  }: ConversationOptions = {},
): ConversationScript {
  const random = createSeededRandom(seed)
  const images = hasImages ? createImageSource(seed) : () => []
  const exchanges: ScriptExchange[] = []
  let outputs: readonly Item[] = [createMessage('system', `${seed}-system`, SYSTEM_CHARS)]
  for (let round = 0; round < rounds; round += 1) {
    const name = `${seed}-${round}`
    const questionChars = QUESTION_CHARS * textLengthFactor
    const question = createMessage('user', `${name}-question`, questionChars, images())
    let newItems: readonly Item[] = [...outputs, question]
    const steps = isChat ? 0 : (callsPerRound ?? random.pickOne(STEP_COUNTS))
    for (let step = 0; step < steps; step += 1) {
      const stepName = `${name}-${step}`
      const [call, output] = createToolStep(stepName, outputChars ?? drawOutputChars(random))
      exchanges.push({ newItems, answer: [...createReasoning(stepName, reasoningChars), call] })
      newItems = [output]
    }
    const closing = [
      ...createReasoning(`${name}-end`, reasoningChars),
      createMessage('assistant', `${name}-answer`, ANSWER_CHARS * textLengthFactor),
    ]
    exchanges.push({ newItems, answer: closing })
    outputs = []
  }
  return { name: `seed ${seed}`, exchanges }
}

const SYSTEM_CHARS = 6000
const QUESTION_CHARS = 300
const ANSWER_CHARS = 1200
const REASONING_CHARS = 1500
const CALL_CHARS = 200
const MAX_OUTPUT_CHARS = 60_000

const STEP_COUNTS = [0, 1, 1, 2, 3] as const

function drawOutputChars(random: SeededRandom): number {
  return Math.min(MAX_OUTPUT_CHARS, Math.round(Math.exp(8.6 + random.nextNormal())))
}

function createToolStep(name: string, outputChars: number): readonly [Item, Item] {
  const input = JSON.stringify({ command: createText(`${name}-call`, CALL_CHARS) })
  const callId = `call_${name}`
  const output = createText(`${name}-output`, outputChars)
  return [
    { type: 'function_call', call_id: callId, name: 'shell', arguments: input },
    { type: 'function_call_output', call_id: callId, output },
  ]
}

function createReasoning(name: string, chars: number): readonly Item[] {
  if (chars === 0) return []
  return [{ type: 'reasoning', summary: [], encrypted_content: createText(name, chars) }]
}

function createMessage(
  role: 'system' | 'user' | 'assistant',
  name: string,
  chars: number,
  images: readonly Part[] = [],
): Item {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return { type: 'message', role, content: [{ type, text: createText(name, chars) }, ...images] }
}

/**
 * Returns a function that draws the images of the next question. Images have a random sequence of
 * their own, so that the texts are the same with and without images.
 */
function createImageSource(seed: number): () => readonly Part[] {
  const random = createSeededRandom(seed + IMAGE_SEED_OFFSET)
  const shown: Part[] = []
  return () =>
    Array.from({ length: random.pickOne(IMAGE_COUNTS) }, () => {
      const repeated = shown[Math.floor(random.next() * shown.length)]
      if (repeated !== undefined && random.next() < REPEAT_SHARE) return repeated
      const image = createImage(`${seed}-image-${shown.length}`)
      shown.push(image)
      return image
    })
}

const IMAGE_SEED_OFFSET = 1_000_000
const IMAGE_COUNTS = [0, 1, 1, 2, 1] as const
const REPEAT_SHARE = 0.1
const IMAGE_CHARS = 4000

function createImage(name: string): Part {
  const base64 = btoa(createText(`\x89PNG\r\n\x1a\n${name}`, (IMAGE_CHARS * 3) / 4))
  return { type: 'input_image', image_url: `data:image/png;base64,${base64}` }
}

function createText(name: string, chars: number): string {
  const start = `${name} `
  const text = start + FILLER.repeat(Math.ceil(chars / FILLER.length))
  return text.slice(0, Math.max(chars, start.length))
}

const FILLER =
  'the quick brown fox looks through every drawer of the kitchen and finds nothing but letters of its own '
