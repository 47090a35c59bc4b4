/** Upstreams that reject a request, break off or send invalid answers, and the fallbacks to others. */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'
import { STREAM_FAULTS } from '../../support/stream-faults.ts'
import { answerJson, answerSse } from '../../support/upstream.ts'
import { accountsWith, ask, chat, FOUR_WIRES, responses, WAYS, type Way } from './ways.ts'

const [WHOLE, STREAMED, WHOLE_CHAT, STREAMED_CHAT] = WAYS as [Way, Way, Way, Way]

const ERRORS: Readonly<Record<string, (message: string, status: number) => Body>> = {
  'gpt-5': openaiError,
  'chat-model': openaiError,
  'claude-sonnet-5': (message) => ({
    type: 'error',
    error: { type: 'overloaded_error', message },
    request_id: 'req_1',
  }),
  'gemini-3.8-flash': (message, code) => ({ error: { code, message, status: 'UNAVAILABLE' } }),
}

function openaiError(message: string): Body {
  return { error: { message, type: 'some_error', param: 'temperature', code: 'some_code' } }
}

const WIRE_OF: Readonly<Record<string, 'responses' | 'chat' | 'anthropic' | 'gemini'>> = {
  'gpt-5': 'responses',
  'chat-model': 'chat',
  'claude-sonnet-5': 'anthropic',
  'gemini-3.8-flash': 'gemini',
}

const STATUSES: readonly (readonly [number, Way])[] = [
  [400, WHOLE],
  [401, STREAMED_CHAT],
  [429, WHOLE_CHAT],
  [500, STREAMED],
]

const refuse = (status: number, message: string, headers = {}) =>
  answerJson(status, openaiError(message), headers)

/** Two accounts that serve the same model, and one whose window is too small. */
const TWO = (url: string) => ({
  MODELS: JSON.stringify({ best: ['one/big', 'two/small'], roomy: ['narrow/tiny', 'two/small'] }),
  ...accountsWith([
    { name: 'one', wire: 'responses', models: ['big'] },
    { name: 'narrow', wire: 'chat', models: ['tiny'], quirks: { contextWindow: 100 } },
    { name: 'two', wire: 'anthropic', models: ['small'] },
    { name: 'soft', wire: 'chat', models: ['soft'], quirks: { degrade: true } },
  ])(url),
})

const refusedField = answerJson(400, {
  error: {
    message: "Unsupported parameter: 'temperature' is not supported with this model.",
    type: 'invalid_request_error',
    param: 'temperature',
    code: 'unsupported_parameter',
  },
})

const FALLBACKS: Readonly<Record<string, GoldenCase['play']>> = {
  'both refuse': ({ send, upstreamDoes }) => {
    upstreamDoes(refuse(500, 'Not here.'), refuse(529, 'Nor here.'))
    return send(ask(WHOLE, 'best', 'Hello!'))
  },
  'the first breaks off before it begins': ({ send, upstreamDoes }) => {
    upstreamDoes(answerSse([], 'reset'))
    return send(ask(STREAMED, 'best', 'Hello!'))
  },
  'what is too long for the first goes to the second': ({ send }) =>
    send(ask(WHOLE, 'roomy', 'fog '.repeat(400))),
  'a parameter is refused, and left out': ({ send, upstreamDoes }) => {
    upstreamDoes(refusedField)
    return send(ask(WHOLE_CHAT, 'soft', 'Hello!', { temperature: 0.3 }))
  },
  'a parameter is refused, and not left out': ({ send, upstreamDoes }) => {
    upstreamDoes(refusedField)
    return send(ask(WHOLE_CHAT, 'two/small', 'Hello!', { temperature: 0.3 }))
  },
}

function firstAnswers(status: number): GoldenCase['play'] {
  return ({ send, upstreamDoes }) => {
    upstreamDoes(refuse(status, 'Not here.', { 'retry-after': '7' }))
    return send(ask(status % 2 === 0 ? WHOLE : STREAMED_CHAT, 'best', 'Hello!'))
  }
}

export const FAILURES: GoldenGroup = {
  name: 'failures',
  cases: [
    ...FOUR_WIRES.flatMap((model): readonly GoldenCase[] => [
      ...STATUSES.map(([status, way]): GoldenCase => ({
        name: `${model} answers ${status}: ${way.name}`,
        play: ({ send, upstreamDoes }) => {
          const body = ERRORS[model]?.('The engine is on fire.', status)
          upstreamDoes(answerJson(status, body, { 'retry-after': '3', 'x-request-id': 'up-1' }))
          return send(ask(way, model, 'Hello!'))
        },
      })),
      ...STREAM_FAULTS.filter(({ name }) => !name.startsWith('nothing but')).map(
        ({ name, frames }, at): GoldenCase => {
          const way = at % 2 === 0 ? STREAMED : STREAMED_CHAT
          return {
            name: `${model}, a stream with ${name}: ${way.name}`,
            async play({ send, services }) {
              services.spoil = (told) => frames(told, WIRE_OF[model] ?? 'chat')
              const first = await send(ask(way, model, 'Servus'))
              services.spoil = null
              // A partial answer can be retrieved.
              if (at === 3 || at === 5)
                await send({ method: 'GET', path: `/v1/responses/${first.id}` })
            },
          }
        },
      ),
      {
        name: `${model} answers what is no JSON`,
        play: ({ send, upstreamDoes }) => {
          upstreamDoes(answerJson(200, '<html>Bad gateway</html>'))
          return send(ask(WHOLE, model, 'Hello!'))
        },
      },
      {
        name: `${model} answers nothing`,
        play: ({ send, upstreamDoes }) => {
          upstreamDoes(answerJson(200, {}))
          return send(ask(WHOLE_CHAT, model, 'Hello!'))
        },
      },
    ]),
    ...[400, 401, 404, 429, 500, 503].map((status): GoldenCase => ({
      name: `the first of two answers ${status}`,
      settings: TWO,
      play: firstAnswers(status),
    })),
    ...Object.entries(FALLBACKS).map(([name, play]): GoldenCase => ({
      name,
      settings: TWO,
      play,
    })),
    ...['gpt-5', 'claude-sonnet-5'].map((model): GoldenCase => ({
      name: `reasoning is refused, and left out from then on: ${model}`,
      async play({ send, services, upstreamDoes }) {
        const first = await send(ask(WHOLE, model, 'One?'))
        const previous = { previous_response_id: first.id }
        services.checksSeals = false
        upstreamDoes(
          model === 'gpt-5'
            ? answerJson(400, {
                error: {
                  message:
                    'The encrypted content gAAA...4== could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
                  type: 'invalid_request_error',
                  param: null,
                  code: 'invalid_encrypted_content',
                },
              })
            : answerJson(400, {
                type: 'error',
                error: {
                  type: 'invalid_request_error',
                  message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
                },
              }),
        )
        const second = await send(ask(WHOLE, model, 'Two?', previous))
        await send(ask(WHOLE, model, 'Three?', { previous_response_id: second.id }))
      },
    })),
    {
      name: 'an answer is ended where another speaker begins',
      settings: { SPEAKER_GUARD: 'Grüezi' },
      play: ({ send }) => send(ask(STREAMED, 'claude-sonnet-5', 'Hello\nGrüezi: you')),
    },
    {
      name: 'what fits no window is refused',
      settings: TWO,
      async play({ send }) {
        await send(responses({ model: 'narrow/tiny', input: 'fog '.repeat(400) }))
        const messages = [{ role: 'user', content: 'fog '.repeat(4000) }]
        await send(chat({ model: 'narrow/tiny', messages }))
      },
    },
  ],
}
