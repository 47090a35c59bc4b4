/**
 * Generates a random conversation of an agent, the same for a seed every time: 60 turns, each with a
 * question, up to three tool calls and an answer. Every model request is an exchange. The lengths of
 * tool outputs are lognormal with a median of about 5,400 characters, so many are short and a few very
 * long. Each text begins with a unique name, so no two are equal.
 *
 * With images, each question has up to two, on average one; 10 % of them repeat an earlier image. An
 * image has as many characters as a text of 1000 tokens, which is what it counts.
 */
import type { Item, Part } from '../core/item.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'
import type { ScriptExchange, ConversationScript } from './conversation-script.ts'

export const DEFAULT_TURN_COUNT = 60

export interface ConversationOptions {
  readonly turns?: number
  readonly hasImages?: boolean
  /** Only questions and answers, without tools. */
  readonly isChat?: boolean
  /** Factor for the length of questions and answers. */
  readonly wordy?: number
}

export function generateConversation(
  seed: number,
  {
    turns = DEFAULT_TURN_COUNT,
    hasImages = false,
    isChat = false,
    wordy = 1,
  }: ConversationOptions = {},
): ConversationScript {
  const random = createSeededRandom(seed)
  const images = hasImages ? createImageSource(seed) : () => []
  const exchanges: ScriptExchange[] = []
  let outputs: readonly Item[] = [createMessage('system', `${seed}-system`, SYSTEM_CHARS)]
  for (let turn = 0; turn < turns; turn += 1) {
    const name = `${seed}-${turn}`
    const question = createMessage('user', `${name}-question`, QUESTION_CHARS * wordy, images())
    let asked: readonly Item[] = [...outputs, question]
    const steps = isChat ? 0 : random.oneOf(STEP_COUNTS)
    for (let step = 0; step < steps; step += 1) {
      const [reasoning, call, output] = createToolStep(`${name}-${step}`, drawOutputChars(random))
      exchanges.push({ asked, answer: [reasoning, call] })
      asked = [output]
    }
    const closing = [
      createReasoning(`${name}-end`),
      createMessage('assistant', `${name}-answer`, ANSWER_CHARS * wordy),
    ]
    exchanges.push({ asked, answer: closing })
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
  return Math.min(MAX_OUTPUT_CHARS, Math.round(Math.exp(8.6 + random.normal())))
}

function createToolStep(name: string, outputChars: number): readonly [Item, Item, Item] {
  const input = JSON.stringify({ command: createText(`${name}-call`, CALL_CHARS) })
  const callId = `call_${name}`
  return [
    createReasoning(name),
    { type: 'function_call', call_id: callId, name: 'shell', arguments: input },
    {
      type: 'function_call_output',
      call_id: callId,
      output: createText(`${name}-output`, outputChars),
    },
  ]
}

function createReasoning(name: string): Item {
  return { type: 'reasoning', summary: [], encrypted_content: createText(name, REASONING_CHARS) }
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
 * Returns a function that draws the images of the next question. Uses its own random sequence, so that
 * the texts are the same with and without images.
 */
function createImageSource(seed: number): () => readonly Part[] {
  const random = createSeededRandom(seed + IMAGE_SEED_OFFSET)
  const shown: Part[] = []
  return () =>
    Array.from({ length: random.oneOf(IMAGE_COUNTS) }, () => {
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
  return (start + FILLER.repeat(Math.ceil(chars / FILLER.length))).slice(
    0,
    Math.max(chars, start.length),
  )
}

const FILLER =
  'the quick brown fox looks through every drawer of the kitchen and finds nothing but letters of its own '
