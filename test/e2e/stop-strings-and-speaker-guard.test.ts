/**
 * Answers that the gateway ends early: at stop strings that the upstream did not get, and where the model
 * writes the line of another speaker.
 */
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openaiFor, startGateway, upstreams } from '../support/gateway.ts'
import { answerSse, startUpstream, type Upstream } from '../support/upstream.ts'
import { chatStream, responsesStream, answerWith } from '../support/answer-formats.ts'
import { HOSTS, type Host } from './hosts.ts'

const SIX = ['1', '2', '3', '4', '5', 'END']

describe.each(HOSTS)('stop strings and the speaker guard on %s', (home, start) => {
  let upstream: Upstream
  let host: Host
  let openai: OpenAI
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { baseUrl: upstream.url, apiKey: 'sk' }
    host = await start(
      upstreams(
        { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
        { name: 'o', wire: 'chat', models: ['openai'], quirks: { profile: 'openai' }, ...account },
        { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
        {
          name: 'g',
          wire: 'chat',
          models: ['guarded'],
          quirks: { speakerGuard: true },
          ...account,
        },
        { name: 's', wire: 'chat', models: ['slips'], quirks: { stop: ['<|end|>'] }, ...account },
        { name: 'd', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
      ),
    )
    openai = openaiFor(host.url)
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })
  beforeEach(() => {
    upstream.behave = answerWith({ text: 'It is here. END of story.' })
  })
  const sent = () => upstream.received.at(-1)?.json ?? {}

  async function chatted(model: string, content: string, more: object = {}) {
    const request = { model, messages: [{ role: 'user' as const, content }], ...more }
    const whole = await openai.chat.completions.create(request)
    const stream = openai.chat.completions.stream(request)
    const streamed = await stream.finalChatCompletion()
    return [whole, streamed].map(({ choices: [choice] }) => ({
      text: choice?.message.content,
      finish: choice?.finish_reason,
    }))
  }

  async function responded(model: string, input: string, more: object = {}) {
    const request = { model, input, ...more }
    const whole = await openai.responses.create(request)
    const streamed = await openai.responses.stream(request).finalResponse()
    return [whole, streamed].map(({ output_text: text, status }) => ({ text, status }))
  }

  describe('stop strings', () => {
    test('the gateway enforces stop strings for the demo upstream', async () => {
      const reply = { text: 'It is here. ', finish: 'stop' }
      const words = '/think I look.\n/say It is here. END of story.'
      expect(await chatted('demo', words, { stop: 'END' })).toEqual(streamedAndNot(reply))
      expect(await responded('demo', words, { stop: ['END'] })).toEqual(
        streamedAndNot({ text: 'It is here. ', status: 'completed' }),
      )
    })

    test('the gateway enforces stop strings for Responses upstreams, whose API has no field for them', async () => {
      const reply = { text: 'It is here. ', finish: 'stop' }
      expect(await chatted('responses-model', 'Where?', { stop: ['END'] })).toEqual(
        streamedAndNot(reply),
      )
      expect(sent()).not.toHaveProperty('stop')
      expect(await responded('responses-model', 'Where?', { stop: 'END' })).toEqual(
        streamedAndNot({ text: 'It is here. ', status: 'completed' }),
      )
      expect(sent()).not.toHaveProperty('stop')
    })

    test('a chat upstream is sent stop strings up to its limit of four', async () => {
      expect(await responded('chat-model', 'Where?', { stop: SIX })).toEqual(
        streamedAndNot({ text: 'It is here. ', status: 'completed' }),
      )
      expect(sent()).toMatchObject({ stop: SIX.slice(0, 4) })
      const reply = { text: 'It is here. ', finish: 'stop' }
      expect(await chatted('openai', 'Where?', { stop: SIX })).toEqual(streamedAndNot(reply))
      expect(sent()).toMatchObject({ stop: SIX.slice(0, 4) })
    })

    test('all stop strings of a chat client are sent to a chat upstream with unknown limits', async () => {
      const reply = { text: 'It is here. END of story.', finish: 'stop' }
      expect(await chatted('chat-model', 'Where?', { stop: SIX })).toEqual(streamedAndNot(reply))
      expect(sent()).toMatchObject({ stop: SIX })
    })

    test('an account of UPSTREAMS can have its own stop strings', async () => {
      upstream.behave = answerWith({ text: 'Hello!<|end|>junk' })
      expect(await chatted('slips', 'Hi', { stop: 'x' })).toMatchObject(
        streamedAndNot({ finish: 'stop' }),
      )
      expect(sent()).toMatchObject({ stop: ['x', '<|end|>'] })
    })

    test('more than 64 stop strings, or one above 1,024 characters, are rejected', async () => {
      const stop = Array.from({ length: 65 }, (_, at) => String(at))
      await expect(
        openai.responses.create({ model: 'demo', input: 'x', stop } as never),
      ).rejects.toMatchObject({ status: 400, code: 'invalid_value', param: 'stop' })
      await expect(chatted('demo', 'x', { stop: 'x'.repeat(1025) })).rejects.toMatchObject({
        status: 400,
        param: 'stop',
      })
    })

    test.each([
      ['responses-model', responsesStream],
      ['chat-model', chatStream],
    ])(
      'a stop string ends the upstream request of %s as soon as it is found',
      async (model, stream) => {
        const pieces = stream({ text: 'It is here. END of story, which goes on.' })
        const end = pieces.findLastIndex((piece) => piece.includes('delta'))
        upstream.behave = answerSse(pieces.slice(0, end), 'hang')
        const response = await openai.responses
          .stream({ model, input: 'Where?', stop: SIX } as never)
          .finalResponse()
        expect(response).toMatchObject({ status: 'completed', output_text: 'It is here. ' })
        // The harness around workerd keeps its upstream connections open after the worker has closed them.
        if (home === 'Node') await upstream.received.at(-1)?.aborted
      },
    )

    test('a stored answer has only the text before the stop string', async () => {
      const first = await openai.responses
        .stream({ model: 'responses-model', input: 'Where?', stop: 'END' } as never)
        .finalResponse()
      await openai.responses.create({
        model: 'responses-model',
        input: 'And?',
        previous_response_id: first.id,
      })
      expect(JSON.stringify(sent())).toContain('It is here. "')
      expect(JSON.stringify(sent())).not.toContain('END')
    })

    test('explain names stop strings that are not sent', async () => {
      const body = { api: 'responses', model: 'chat-model', input: 'Where?', stop: SIX }
      const response = await fetch(`${host.url}/v1/context/explain`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      expect(await response.json()).toMatchObject({
        notes: [{ did: 'changed', field: 'stop', why: 'stop-enforced', detail: /stream/ }].map(
          ({ detail, ...note }) => ({ ...note, detail: expect.stringMatching(detail) as string }),
        ),
      })
    })
  })

  describe('the speaker guard against lines of other speakers', () => {
    beforeEach(() => {
      upstream.behave = answerWith({ text: 'Hello!\nUser: Hi\nAssistant: Ho' })
    })

    test('a line of another speaker ends the answer if the speaker guard is on', async () => {
      const reply = { text: 'Hello!\n', finish: 'stop' }
      expect(await chatted('guarded', 'Hi')).toEqual(streamedAndNot(reply))
      expect(await responded('guarded', 'Hi')).toEqual(
        streamedAndNot({ text: 'Hello!\n', status: 'completed' }),
      )
    })

    test('lines of other speakers stay in the answer if the speaker guard is off, which is the default', async () => {
      const reply = { text: 'Hello!\nUser: Hi\nAssistant: Ho', finish: 'stop' }
      expect(await chatted('chat-model', 'Hi')).toEqual(streamedAndNot(reply))
    })

    test("the speaker guard does not end a JSON answer at a key that looks like a speaker's label", async () => {
      upstream.behave = answerWith({ text: '{\n"user": 1\n}' })
      const reply = { text: '{\n"user": 1\n}', finish: 'stop' }
      const more = { response_format: { type: 'json_object' } }
      expect(await chatted('guarded', 'Hi', more)).toEqual(streamedAndNot(reply))
    })
  })
})

test('neither labels in SPEAKER_GUARD nor a label at the start of an answer end the answer', async () => {
  const { openai, close } = await startGateway({ SPEAKER_GUARD: 'Ada, User' })
  const { choices } = await openai.chat.completions.create({
    model: 'demo',
    messages: [{ role: 'user', content: '/say User: a' }],
  })
  expect(choices[0]?.message.content).toBe('User: a')
  const other = await openai.chat.completions.create({
    model: 'demo',
    messages: [{ role: 'user', content: '/say Answer: 42' }],
  })
  expect(other.choices[0]?.finish_reason).toBe('stop')
  expect(other.choices[0]?.message.content).toBe('Answer: 42')
  await close()
})

function streamedAndNot<Value>(value: Value): readonly Value[] {
  return [value, value]
}
