/**
 * The status line about lost reasoning: Claude's newer models accept their reasoning only after the unchanged
 * conversation. Open WebUI shows one line for each change that costs a model reasoning, with the cause, and none
 * above the answers after it. Two gateways share one database, and each request goes to either of them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { startGateway } from '../../support/gateway.ts'
import { createAnswerReader } from '../../support/open-webui/answer-reader.ts'
import { nextNumber, parseScript } from '../../support/open-webui/script.ts'
import {
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../../support/open-webui/scripted-upstream.ts'
import { toMessages, type ChatMessage } from '../../support/open-webui/to-messages.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: ScriptedUpstream
let gateways: readonly Gateway[]
const folder = mkdtempSync(path.join(tmpdir(), 'lost-reasoning-'))
beforeAll(async () => {
  upstream = await startScriptedUpstream(0)
  const environment = {
    CONTEXT: 'replay',
    TRUST_USER_HEADERS: 'on',
    DATABASE_URL: `sqlite:${path.join(folder, 'shared.db')}`,
    ...upstream.environment,
  }
  gateways = [await startGateway(environment), await startGateway(environment)]
})
afterAll(async () => {
  for (const gateway of gateways) await gateway.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const TOOL = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: {} } },
}

interface Step {
  readonly model: string
  /** `RT`: reasoning and text; `T`: text only. */
  readonly script: string
  readonly system: string
  readonly hasTool: boolean
  /** Index of the gateway that gets the request. */
  readonly replica: number
  /** Text in front of the question, which Open WebUI leaves out of the next request. */
  readonly document: string
  /** True if the user changes the first question before asking again. */
  readonly editsFirst: boolean
}

const STEP: Step = {
  model: 'claude-opus-5-5',
  script: 'RT',
  system: 'Be kind.',
  hasTool: false,
  replica: 0,
  document: '',
  editsFirst: false,
}

/** A chat of Open WebUI: it sends the texts of all messages, and shows the status lines of an answer. */
function openChat() {
  const user = `user-${nextNumber()}`
  let parent = ''
  const messages: ChatMessage[] = []
  return async (more: Partial<Step>): Promise<readonly string[]> => {
    const { model, script, system, hasTool, replica, document, editsFirst } = { ...STEP, ...more }
    const question = `Q${nextNumber()} what of the fog?`
    const [first] = messages
    if (editsFirst && first !== undefined)
      messages[0] = { role: 'user', content: `${String(first.content)} Really?` }
    const before = [...messages]
    messages.push({ role: 'user', content: question })
    upstream.plan(question, model, parseScript(script))
    const message = `m${nextNumber()}`
    const headers = {
      'x-backstory-chat': `chat of ${user}`,
      'x-backstory-message': message,
      'x-backstory-user-message': `question of ${message}`,
      'x-backstory-user-parent': parent,
      'x-openwebui-user-id': user,
    }
    parent = message
    const response = await gateways[replica]?.post(
      '/v1/chat/completions',
      {
        model,
        stream: true,
        messages: [
          { role: 'system', content: system },
          ...before,
          { role: 'user', content: document + question },
        ],
        ...(hasTool ? { tools: [TOOL] } : {}),
      },
      headers,
    )
    const answer = readAnswer((await response?.text()) ?? '')
    messages.push(...answer.messages)
    return answer.status
  }
}

/** Reads an answer as Open WebUI does: the messages that it sends back, and the status lines that it shows. */
function readAnswer(body: string) {
  const lines = body.split('\n')
  const reader = createAnswerReader([])
  for (const line of lines) reader.line(line)
  const status = lines.flatMap((line) => {
    const json = line.startsWith('data: {') ? (JSON.parse(line.slice(6)) as JsonObject) : {}
    const data = isObject(json['event']) ? json['event']['data'] : null
    return isObject(data) ? [String(data['description'])] : []
  })
  return { messages: toMessages(reader.ended().items), status }
}

const LEFT_OUT = 'Earlier reasoning was left out: '

test('a change before earlier reasoning gets one status line with its cause', async () => {
  const ask = openChat()
  const told = [
    await ask({}),
    await ask({}),
    await ask({ hasTool: true }),
    await ask({ hasTool: true }),
    await ask({ hasTool: true, system: 'Be brief.' }),
    await ask({ hasTool: true, system: 'Be brief.' }),
    await ask({ hasTool: true, system: 'Be brief. It is 2026-11-20, 14:05.' }),
    await ask({ hasTool: true, system: 'Be brief. It is 2026-11-21, 9:30 AM.' }),
    await ask({ hasTool: true, system: 'Be brief. It is 2026-11-21, 9:30 AM.', editsFirst: true }),
    await ask({ hasTool: true, system: 'Be brief. It is 2026-11-21, 9:30 AM.' }),
  ]
  expect(told).toEqual([
    [],
    [],
    [`${LEFT_OUT}the tools changed`],
    [],
    [`${LEFT_OUT}the system prompt changed`],
    [],
    [`${LEFT_OUT}the system prompt changed`],
    [`${LEFT_OUT}the date in the system prompt changed`],
    [`${LEFT_OUT}an earlier message changed`],
    [],
  ])
})

test('a user who changes the model gets no line, because the reasoning of each model waits for it', async () => {
  const ask = openChat()
  const other = { model: 'claude-sonnet-5-5' }
  const told = [await ask({}), await ask(other), await ask({}), await ask(other), await ask({})]
  expect(told).toEqual([[], [], [], [], []])
  expect(await ask({ hasTool: true })).toEqual([`${LEFT_OUT}the tools changed`])
  expect(await ask({ ...other, hasTool: true })).toEqual([`${LEFT_OUT}the tools changed`])
  expect(await ask({ ...other, hasTool: true })).toEqual([])
})

test('a document that Open WebUI attaches to the newest question is named as the cause', async () => {
  const ask = openChat()
  const document = '### Task:\nRespond to the user query with this context: Fog is grey.\n'
  const told = [await ask({}), await ask({ document }), await ask({}), await ask({})]
  const moved = 'the text of a file is sent with the newest question only'
  expect(told).toEqual([[], [], [`${LEFT_OUT}${moved}`], []])
})

test('answers without reasoning do not repeat the line, although nothing else of them is stored', async () => {
  const ask = openChat()
  const told = [
    await ask({}),
    await ask({ script: 'T', hasTool: true }),
    await ask({ script: 'T', hasTool: true }),
    await ask({ script: 'T', hasTool: true, replica: 1 }),
    await ask({ hasTool: true }),
  ]
  expect(told.map(({ length }) => length)).toEqual([0, 1, 0, 0, 0])
})

const anyStep: fc.Arbitrary<Step> = fc.record({
  model: fc.constant(STEP.model),
  script: fc.constantFrom('RT', 'RT', 'T'),
  system: fc.constantFrom('Be kind.', 'Be kind.', 'Be kind.', 'Be brief.'),
  hasTool: fc.constantFrom(false, false, true),
  replica: fc.nat({ max: 1 }),
  document: fc.constant(''),
  editsFirst: fc.constantFrom(false, false, false, false, true),
})

/**
 * Returns for each step whether its request is the first that loses reasoning to a change. Prompts are plain texts:
 * reasoning is sent while the text before it is the one that it was written after.
 */
function predictLines(steps: readonly Step[]): readonly boolean[] {
  const answers: { readonly prefix: string; readonly hasReasoning: boolean }[] = []
  let edits = 0
  return steps.map(({ script, system, hasTool, editsFirst }, step) => {
    if (editsFirst && step > 0) edits += 1
    let prompt = `${system} ${hasTool} ${edits}`
    let isLost = false
    let hasChanged = false
    for (const [index, { prefix, hasReasoning }] of answers.entries()) {
      prompt += ` question ${index}`
      hasChanged = prompt !== prefix
      if (hasReasoning && !hasChanged) prompt += ` reasoning ${index}`
      if (hasReasoning && hasChanged) isLost = true
      prompt += ` answer ${index}`
    }
    answers.push({ prefix: `${prompt} question ${step}`, hasReasoning: script.includes('R') })
    return isLost && hasChanged
  })
}

test('for any changes of a chat on two replicas, each change that costs reasoning gets exactly one line, and nothing else does', async () => {
  const chats = fc.array(anyStep, { minLength: 3, maxLength: 9 })
  await fc.assert(
    fc.asyncProperty(chats, async (steps) => {
      const ask = openChat()
      const lines: number[] = []
      for (const step of steps) lines.push((await ask(step)).length)
      expect(lines).toEqual(predictLines(steps).map(Number))
    }),
    { numRuns: 15 },
  )
})
