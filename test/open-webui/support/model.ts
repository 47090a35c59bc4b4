/**
 * The model behind the suite. Each answer has a number, which its thought and its words name, so that a misplaced
 * thought is recognized. The latest question selects the answer:
 *
 *     Look up Oslo and Rome.   calls a tool for each place, one after the other, then answers
 *     Count slowly.            writes for about 15 seconds
 *     anything else            a thought, and one line
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { ModelAnswer, ModelRequest } from '../../support/services/simulated-model.ts'

/** A tool that every Open WebUI offers with every question. */
const TOOL = 'get_current_timestamp'

const TASK_PROMPT = /^### Task:|<chat_history>/

export function isTask({ questions }: ModelRequest): boolean {
  return questions.some((text) => TASK_PROMPT.test(text))
}

export function isSlow({ questions }: ModelRequest): boolean {
  return questions.at(-1)?.includes('Count slowly') === true
}

export function answerTask(): ModelAnswer {
  const task: JsonObject = {
    title: '🧭 A walk in the fog',
    tags: ['Weather'],
    follow_ups: ['And tomorrow?'],
    queries: [],
    text: '',
  }
  return { parts: [{ type: 'text', text: JSON.stringify(task) }], isCut: false }
}

export function answerQuestion(request: ModelRequest, number: number): ModelAnswer {
  const thought = { type: 'thought', text: `Thought ${number}: my secret is ${number}.` } as const
  const text = (words: string) => ({ type: 'text', text: words }) as const
  const question = request.questions.at(-1) ?? ''
  if (request.prefill !== null) {
    return { parts: [thought, text(` And so on, says answer ${number}.`)], isCut: false }
  }
  const place = placesIn(question)[request.outputs.length]
  if (place !== undefined && request.tools.includes(TOOL)) {
    const call = { type: 'call', name: TOOL, input: {} } as const
    return {
      parts: [thought, text(`Looking up ${place}, says answer ${number}.`), call],
      isCut: false,
    }
  }
  if (isSlow(request)) {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`)
    return { parts: [thought, text(`Answer ${number}: ${lines.join(', ')}.`)], isCut: false }
  }
  const found =
    request.outputs.length > 0 ? ` The tool answered ${request.outputs.length} times.` : ''
  return {
    parts: [thought, text(`Answer ${number}: it is foggy in the hills.${found}`)],
    isCut: false,
  }
}

function placesIn(question: string): readonly string[] {
  return /Look up ([^.?!]+)/.exec(question)?.[1]?.split(' and ') ?? []
}
