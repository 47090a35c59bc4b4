/**
 * A conversation of an agent, made by chance, and the same for a seed every time: sixty turns, each
 * a question, up to three calls of a tool, and an answer. Every request of the model is an exchange.
 * How long outputs are is lognormal, with a median of about 5,400 characters: many are short, a few
 * are very long. Each text begins with a name of its own, so no two are equal.
 *
 * If it is to have images, each question shows up to two of them, one in the mean, and now and then one
 * that was shown before. An image is as long as text of what it is counted as, a thousand tokens.
 */
import type { Item, Part } from '../core/item.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'
import type { ScriptExchange, ConversationScript } from './conversation-script.ts'

export const DEFAULT_TURN_COUNT = 60

export interface ConversationOptions {
  readonly turns?: number
  readonly hasImages?: boolean
  /** Nothing but questions and answers, without tools. */
  readonly isChat?: boolean
  /** So many times as long are its questions and answers. */
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
  const chance = createSeededRandom(seed)
  const images = hasImages ? openAlbum(seed) : () => []
  const exchanges: ScriptExchange[] = []
  let outputs: readonly Item[] = [message('system', `${seed}-system`, SYSTEM_CHARS)]
  for (let turn = 0; turn < turns; turn += 1) {
    const name = `${seed}-${turn}`
    const question = message('user', `${name}-question`, QUESTION_CHARS * wordy, images())
    let asked: readonly Item[] = [...outputs, question]
    const steps = isChat ? 0 : chance.oneOf(STEPS)
    for (let step = 0; step < steps; step += 1) {
      const [reasoning, call, output] = toolStep(`${name}-${step}`, outputChars(chance))
      exchanges.push({ asked, answer: [reasoning, call] })
      asked = [output]
    }
    const closing = [
      thought(`${name}-end`),
      message('assistant', `${name}-answer`, ANSWER_CHARS * wordy),
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
const LONGEST_OUTPUT = 60_000

const STEPS = [0, 1, 1, 2, 3] as const

function outputChars(chance: SeededRandom): number {
  return Math.min(LONGEST_OUTPUT, Math.round(Math.exp(8.6 + chance.normal())))
}

function toolStep(name: string, outputChars: number): readonly [Item, Item, Item] {
  const input = JSON.stringify({ command: textOf(`${name}-call`, CALL_CHARS) })
  const callId = `call_${name}`
  return [
    thought(name),
    { type: 'function_call', call_id: callId, name: 'shell', arguments: input },
    {
      type: 'function_call_output',
      call_id: callId,
      output: textOf(`${name}-output`, outputChars),
    },
  ]
}

function thought(name: string): Item {
  return { type: 'reasoning', summary: [], encrypted_content: textOf(name, REASONING_CHARS) }
}

function message(
  role: 'system' | 'user' | 'assistant',
  name: string,
  chars: number,
  images: readonly Part[] = [],
): Item {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return { type: 'message', role, content: [{ type, text: textOf(name, chars) }, ...images] }
}

/** What is shown with the next question. Its chance is its own, so that the words are those of any other. */
function openAlbum(seed: number): () => readonly Part[] {
  const chance = createSeededRandom(seed + ALBUM)
  const shown: Part[] = []
  return () =>
    Array.from({ length: chance.oneOf(IMAGES) }, () => {
      const again = shown[Math.floor(chance.next() * shown.length)]
      if (again !== undefined && chance.next() < AGAIN) return again
      const image = imageOf(`${seed}-image-${shown.length}`)
      shown.push(image)
      return image
    })
}

const ALBUM = 1_000_000
const IMAGES = [0, 1, 1, 2, 1] as const
const AGAIN = 0.1
const IMAGE_CHARS = 4000

function imageOf(name: string): Part {
  const base64 = btoa(textOf(`\x89PNG\r\n\x1a\n${name}`, (IMAGE_CHARS * 3) / 4))
  return { type: 'input_image', image_url: `data:image/png;base64,${base64}` }
}

function textOf(name: string, chars: number): string {
  const begun = `${name} `
  return (begun + FILLER.repeat(Math.ceil(chars / FILLER.length))).slice(
    0,
    Math.max(chars, begun.length),
  )
}

const FILLER =
  'the quick brown fox looks through every drawer of the kitchen and finds nothing but letters of its own '
