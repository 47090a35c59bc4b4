/**
 * Answers questions that contain no directions for the demo model. The answers show what the gateway does: the model
 * greets the user and writes a number into its reasoning only. If the user asks for the number later, the model finds it
 * in the reasoning that the gateway has restored. The model calls a tool only if the user asks for it, because Open WebUI
 * offers tools with every message.
 */
import { textOf, type Item } from '../../core/item.ts'
import type { Tool } from '../../core/prompt.ts'
import type { DemoRequest } from './demo-request.ts'
import { createSampleArguments } from './sample-arguments.ts'

/** Returns the directions for an answer, e.g. `/think …` and `/say …`. */
export function guideTour(
  request: Pick<DemoRequest, 'items' | 'tools' | 'toolChoice'>,
  question: string,
  toolOutputs: readonly string[],
): readonly string[] {
  const taskAnswer = answerTask(question)
  if (taskAnswer !== null) return [`/say ${taskAnswer}`]
  if (toolOutputs.length > 0)
    return ['/think The tools have answered.', `/say The tools said: ${toolOutputs.join(' and ')}.`]
  const tool = selectRequestedTool(request, question)
  if (tool !== null) {
    const call = `/call ${tool.name} ${JSON.stringify(createSampleArguments(tool.parameters ?? {}))}`
    return [`/think I am offered ${tool.name}, so I call it.`, call]
  }
  const memory = readMemory(request.items)
  return memory.messages === 0 ? greet(question) : answerFromMemory(question, memory)
}

/**
 * Answers Open WebUI's requests for a title, tags and follow-up questions, so that the first chat looks as with a real
 * model. The follow-up questions continue the tour. Returns null for any other question.
 */
function answerTask(question: string): string | null {
  if (!question.startsWith('### Task:')) return null
  const field = Object.keys(TASK_ANSWERS).find((name) => question.includes(`"${name}"`))
  return field === undefined ? null : JSON.stringify({ [field]: TASK_ANSWERS[field] })
}

const NUMBER_QUESTION = 'Which number did you think of?'
const MEMORY_QUESTION = 'What can you see of our conversation?'

const TASK_ANSWERS: Readonly<Record<string, string | readonly string[]>> = {
  follow_ups: [NUMBER_QUESTION, 'Please use a tool.', MEMORY_QUESTION],
  title: 'A tour of Backstory',
  tags: ['Demo'],
  queries: [],
}

type FunctionTool = Extract<Tool, { readonly type: 'function' }>

/**
 * Returns the tool that the question names, e.g. `get_weather` for `Weather in Graz?`, or the first tool for `Use a
 * tool`, or if the request requires a call; null if the model is not asked to call a tool.
 */
function selectRequestedTool(
  { tools, toolChoice }: Pick<DemoRequest, 'tools' | 'toolChoice'>,
  question: string,
): FunctionTool | null {
  const functions = tools.filter((tool) => tool.type === 'function')
  switch (toolChoice?.type) {
    case 'none':
      return null
    case 'function':
      return functions.find(({ name }) => name === toolChoice.name) ?? null
    case 'allowed': {
      const allowed = functions.filter(({ name }) => toolChoice.names.includes(name))
      return selectNamedTool(allowed, question, toolChoice.mode === 'required')
    }
    case 'auto':
    case 'required':
    case 'custom':
    case 'opaque':
    case undefined:
      return selectNamedTool(functions, question, toolChoice?.type === 'required')
  }
}

function selectNamedTool(
  functions: readonly FunctionTool[],
  question: string,
  isCallRequired: boolean,
): FunctionTool | null {
  const named = functions.find(({ name }) => isNamedIn(name, question))
  const isAsked = isCallRequired || ASKS_FOR_TOOL.test(question)
  return named ?? (isAsked ? (functions[0] ?? null) : null)
}

const ASKS_FOR_TOOL = /\b(?:use|call|run|try)\b[^.?!]*\btools?\b/i

function isNamedIn(toolName: string, question: string): boolean {
  const words = splitWords(toolName.replace(/^get_/, ''))
  return ` ${splitWords(question)} `.includes(` ${words} `)
}

/** `Weather in Graz?` → `weather in graz` */
function splitWords(text: string): string {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(' ')
}

/** The parts of the prompt before the last question that the demo model mentions in its answer. */
interface Memory {
  /** Number of earlier user messages. */
  readonly messages: number
  readonly thoughts: number
  readonly toolOutputs: readonly string[]
  /** The number in an earlier thought; null if the model sees no such thought. */
  readonly number: string | null
}

function readMemory(items: readonly Item[]): Memory {
  const end = items.findLastIndex(isUserMessage)
  const earlier = items.slice(0, Math.max(0, end))
  const thoughts = earlier.flatMap((item) =>
    item.type === 'reasoning'
      ? [[...item.summary, ...(item.content ?? [])].map(({ text }) => text).join('')]
      : [],
  )
  const numbers = thoughts.flatMap((thought) => /\bnumber is (\d{4})\b/.exec(thought)?.[1] ?? [])
  return {
    messages: earlier.filter(isUserMessage).length,
    thoughts: thoughts.length,
    toolOutputs: earlier.flatMap((item) =>
      item.type === 'function_call_output' ? [textOf(item.output)] : [],
    ),
    number: numbers.at(-1) ?? null,
  }
}

function isUserMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'user'
}

function greet(question: string): readonly string[] {
  return [
    `/think This is the first message, so I greet. My number is ${chooseNumber(question)}; I do not say it.`,
    `/say Hello! I am the demo model, and I heard ${quote(question)}. I am a script inside the gateway, so I need no key. I have just thought of a number, which is only in my thoughts. Ask me: “${NUMBER_QUESTION}”`,
  ]
}

function answerFromMemory(question: string, memory: Memory): readonly string[] {
  const { messages, thoughts, toolOutputs, number } = memory
  const seen = `${count(thoughts, 'thought')} of mine and ${count(toolOutputs.length, 'tool result')}`
  // The number is repeated, because a context policy may drop old reasoning.
  const kept = number === null ? '' : ` My number is ${number}.`
  return [
    `/think I look at what I can see of our conversation.${kept}`,
    `/say ${recall(question, memory) ?? `I am the demo model, and I heard ${quote(question)}. I remember ${messages} earlier of your messages. I also see ${seen}.`}`,
  ]
}

/** Answers a question about the number or a tool result of an earlier answer; returns null for other questions. */
function recall(question: string, { number, toolOutputs }: Memory): string | null {
  if (/\bnumber\b/i.test(question)) {
    return number === null
      ? 'I do not know the number: I can see no thought of mine that has one.'
      : `My number is ${number}. It was only in my thoughts, which most clients do not send back: the gateway stored them and sent them to me again.`
  }
  if (!/\btools?\b/i.test(question)) return null
  return toolOutputs.length === 0
    ? 'I can see no result of a tool. If tools are offered, ask me: “Please use a tool.”'
    : `The tools said: ${toolOutputs.join(' and ')}. That was in an earlier answer.`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function quote(question: string): string {
  return question === '' ? 'nothing' : `“${question.replaceAll('\n', ' ')}”`
}

/** Derives a number of four digits from the question, so that equal prompts get equal answers. */
function chooseNumber(question: string): number {
  let sum = 0
  for (const char of question) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9000
  return 1000 + sum
}
