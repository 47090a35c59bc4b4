/** The demo model without directions: it greets, thinks, recalls, and calls tools only when it is asked to. */
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { Tool } from '../../../src/core/prompt.ts'
import type { DemoRequest } from '../../../src/providers/demo/demo-request.ts'
import { guideTour } from '../../../src/providers/demo/guide-tour.ts'

const user = (text: string): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})
const thought = (text: string): Item => ({
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text }],
})
const output = (text: string): Item => ({
  type: 'function_call_output',
  call_id: 'c',
  output: text,
})
const tool = (name: string): Tool => ({
  type: 'function',
  name,
  description: null,
  parameters: {},
  strict: false,
})

const TOOLS = ['get_current_timestamp', 'calculate_timestamp', 'search_web', 'get_weather'].map(
  tool,
)

interface Situation extends Partial<Pick<DemoRequest, 'tools' | 'toolChoice'>> {
  readonly before?: readonly Item[]
  readonly toolOutputs?: readonly string[]
}

function answer(question: string, { before = [], toolOutputs = [], ...more }: Situation = {}) {
  const items = [...before, user(question)]
  return guideTour({ items, tools: TOOLS, toolChoice: null, ...more }, question, toolOutputs)
}

test('the demo model greets, says what it is, and thinks of a number, although tools are offered', () => {
  const [think, say] = answer('Hello! What can you do?')
  expect(say).toMatch(/^\/say Hello! I am the demo model.*“Hello! What can you do\?”/)
  const [number] = /\d{4}/.exec(think ?? '') ?? []
  expect(number).toBeDefined()
  expect(say).not.toContain(number)
  expect(answer('Hello! What can you do?')).toEqual([think, say])
})

test.each([
  ['Please use a tool.', 'get_current_timestamp'],
  ['Call one of your tools', 'get_current_timestamp'],
  ['Weather in Graz?', 'get_weather'],
  ['What does search_web find?', 'search_web'],
  ['Search web, please', 'search_web'],
])('asked %j, the demo model calls %s', (question, name) => {
  expect(answer(question).at(-1)).toBe(`/call ${name} {}`)
})

test.each([
  'Hello!',
  'What tools do you have?',
  'Do you like whether or weathers?',
  'Search the web',
  'Which number did you think of?',
])('asked %j, the demo model calls no tool', (question) => {
  expect(answer(question).join('\n')).not.toContain('/call')
  expect(answer(question, { before: [user('Hi')] }).join('\n')).not.toContain('/call')
})

test('the demo model obeys the tool choice of the request', () => {
  const call = (toolChoice: DemoRequest['toolChoice'], question = 'Hello') =>
    answer(question, { toolChoice }).at(-1)
  expect(call({ type: 'required' })).toBe('/call get_current_timestamp {}')
  expect(call({ type: 'function', name: 'search_web' })).toBe('/call search_web {}')
  const allowed = { type: 'allowed', names: ['get_weather'] } as const
  expect(call({ ...allowed, mode: 'required' })).toBe('/call get_weather {}')
  expect(call({ ...allowed, mode: 'auto' })).toMatch(/^\/say Hello/)
  expect(call({ type: 'none' }, 'Please use a tool.')).toMatch(/^\/say Hello/)
})

test('the demo model reports what its tools have said, also of an earlier answer', () => {
  expect(answer('Use a tool', { toolOutputs: ['fog', 'sun'] }).at(-1)).toBe(
    '/say The tools said: fog and sun.',
  )
  const before = [user('Use a tool'), output('fog')]
  expect(answer('What did the tool say?', { before }).at(-1)).toMatch(
    /^\/say The tools said: fog\./,
  )
  expect(answer('What did the tool say?', { before: [user('Hi')] }).at(-1)).toMatch(/no result/)
})

test('the demo model knows its number only if it is sent its earlier thoughts', () => {
  const [first = ''] = answer('Hello')
  const [number = ''] = /\d{4}/.exec(first) ?? []
  const ask = (before: readonly Item[]) => answer('Which number did you think of?', { before })
  expect(ask([user('Hello'), thought(first)]).at(-1)).toContain(`My number is ${number}.`)
  expect(ask([user('Hello')]).at(-1)).toMatch(/do not know the number/)
  const [later = ''] = answer('And you?', { before: [user('Hello'), thought(first)] })
  expect(ask([user('And you?'), thought(later)]).at(-1)).toContain(`My number is ${number}.`)
})

test('the demo model counts what it can see of the conversation', () => {
  const before = [user('Hello'), thought('Hm.'), user('Use a tool'), thought('Hm.'), output('fog')]
  expect(answer('And now?', { before }).at(-1)).toBe(
    '/say I am the demo model, and I heard “And now?”. I remember 2 earlier of your messages. I also see 2 thoughts of mine and 1 tool result.',
  )
})

test('the demo model answers the tasks of Open WebUI in their format', () => {
  const task = (field: string) => `### Task:\nSuggest.\n### Output:\nJSON: { "${field}": [] }`
  const answers = ['title', 'tags', 'follow_ups'].map(
    (field) => JSON.parse(answer(task(field))[0]?.replace('/say ', '') ?? '') as object,
  )
  expect(answers.map((json) => Object.keys(json))).toEqual([['title'], ['tags'], ['follow_ups']])
})
