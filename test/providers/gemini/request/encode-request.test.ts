import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../../src/core/item.ts'
import { gemini } from '../../../../src/providers/gemini/gemini.ts'
import { ACCOUNT, call, image, message, output, promptOf, encode, encodeTurns } from '../kit.ts'

const hi = message('user', 'Hi')

test('a Gemini request has the model and the method in its path and the API key in a header', () => {
  const prompt = promptOf([hi], { model: 'models/gemini-2.5 pro' })
  expect(gemini.encode(prompt, ACCOUNT).path).toBe(
    '/models/gemini-2.5%20pro:streamGenerateContent?alt=sse',
  )
  expect(gemini.encode({ ...promptOf([hi]), stream: false }, ACCOUNT).path).toBe(
    '/models/gemini-3.8-flash:generateContent',
  )
  expect(gemini.createHeaders(ACCOUNT)).toEqual({ 'x-goog-api-key': 'AIza-test' })
  expect(gemini.createHeaders({ ...ACCOUNT, apiKey: null })).toEqual({})
})

describe('roles of turns in Gemini requests', () => {
  test('a Gemini system instruction contains the instructions and then the leading system messages', () => {
    const items = [message('system', 'Be brief.'), message('developer', 'In verse.'), hi]
    const { body, notes } = encode(items, { instructions: 'Today is Monday.' })
    expect(body['systemInstruction']).toEqual({
      parts: [{ text: 'Today is Monday.' }, { text: 'Be brief.' }, { text: 'In verse.' }],
    })
    expect(body['contents']).toEqual([{ role: 'user', parts: [{ text: 'Hi' }] }])
    expect(notes).toEqual([])
  })

  test('a system message within the conversation is sent to Gemini in the same position as user text in <system_message> tags', () => {
    const items = [
      hi,
      message('assistant', 'Hello'),
      message('system', 'No jokes.'),
      message('user', 'So?'),
    ]
    const { body, notes } = encode(items)
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      {
        role: 'user',
        parts: [{ text: '<system_message>\nNo jokes.\n</system_message>' }, { text: 'So?' }],
      },
    ])
    expect(notes).toEqual([{ did: 'changed', at: 2, why: 'system-in-place', by: 'gemini' }])
  })

  test('a Gemini model without a system instruction gets its text in the first user turn', () => {
    const { body, codes } = encode([message('system', 'Be brief.'), hi], {
      model: 'gemma-3-27b-it',
    })
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] }],
    })
    expect(codes).toEqual(['system-as-user'])
  })

  test('adjacent messages of one role become one Gemini turn without empty parts', () => {
    const items = [
      hi,
      message('user', '', 'there'),
      message('user'),
      message('assistant', 'A', ''),
      message('assistant', 'B'),
      hi,
    ]
    expect(encodeTurns(items)).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'model', parts: [{ text: 'A' }, { text: 'B' }] },
      { role: 'user', parts: [{ text: 'Hi' }] },
    ])
  })

  test('a Gemini request begins with a user turn and, if the model requires it, ends with one', () => {
    const { body, codes } = encode([message('assistant', 'Welcome')])
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: '[Gateway notice: The conversation begins.]' }] },
      { role: 'model', parts: [{ text: 'Welcome' }] },
      { role: 'user', parts: [{ text: 'Continue.' }] },
    ])
    expect(codes).toEqual(['first-turn-added', 'last-turn-added'])
    const older = encode([hi, message('assistant', 'Once upon')], {
      model: 'gemini-2.5-flash',
    })
    expect(older.body['contents']).toHaveLength(2)
  })

  test('an empty conversation becomes a valid Gemini request', () => {
    expect(encodeTurns([])).toEqual([
      { role: 'user', parts: [{ text: '[Gateway notice: The conversation begins.]' }] },
    ])
  })
})

describe('tool calls and their outputs in Gemini requests', () => {
  test('parallel calls become one Gemini turn, and their outputs the next turn in the same order', () => {
    const items = [
      hi,
      call('a', 'look', { at: 1 }, { thoughtSignature: 'S', id: 'x1' }),
      call('b', 'find', {}, { id: 'x2' }),
      output('b', '{"found":true}'),
      output('a', '4 degrees'),
    ]
    const { body, notes } = encode(items)
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'x1', name: 'look', args: { at: 1 } }, thoughtSignature: 'S' },
          { functionCall: { id: 'x2', name: 'find', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'x1', name: 'look', response: { output: '4 degrees' } } },
          { functionResponse: { id: 'x2', name: 'find', response: { found: true } } },
        ],
      },
    ])
    expect(notes).toEqual([])
  })

  test('call ids are not sent to a Gemini upstream that rejects them', () => {
    const items = [hi, call('a', 'look', {}, { thoughtSignature: 'S', id: 'x1' }), output('a', '')]
    expect(JSON.stringify(encode(items, {}, { callIds: false }).body)).not.toContain('x1')
  })

  test('successive tool calls stay separate Gemini turns, and the text between them keeps its position', () => {
    const items = [
      hi,
      message('assistant', 'Let me see.'),
      call('a', 'look', {}, { thoughtSignature: 'S1' }),
      output('a', '1'),
      call('a', 'look', {}, { thoughtSignature: 'S2' }),
      output('a', '2'),
      message('assistant', 'Two.'),
      message('user', 'Thanks'),
    ]
    expect(
      JSON.stringify(encodeTurns(items)).match(/Let me see|S1|"1"|S2|"2"|Two|Thanks/g),
    ).toEqual(['Let me see', 'S1', '"1"', 'S2', '"2"', 'Two', 'Thanks'])
    expect(encodeTurns(items)).toHaveLength(7)
  })

  test('a late tool output is moved directly after its call in a Gemini request', () => {
    const { body, notes } = encode([
      hi,
      call('a', 'look', {}, { thoughtSignature: 'S' }),
      message('user', 'And?'),
      output('a', '1'),
    ])
    expect(body['contents']).toMatchObject([
      {},
      { parts: [{ functionCall: {} }] },
      { parts: [{ functionResponse: { response: { output: '1' } } }, { text: 'And?' }] },
    ])
    expect(notes).toEqual([{ did: 'moved', at: 3, why: 'output-moved', by: 'gemini' }])
  })

  test('a Gemini request has an error response for a call without an output, and no output without a call', () => {
    const { body, notes } = encode([
      hi,
      call('a', 'look', {}, { thoughtSignature: 'S' }),
      output('z', '1'),
      hi,
    ])
    expect(body['contents']).toMatchObject([
      {},
      {},
      {
        parts: [
          {
            functionResponse: {
              name: 'look',
              response: { error: 'There is no output of this call.' },
            },
          },
          { text: 'Hi' },
        ],
      },
    ])
    expect(notes.map(({ at, why }) => [at, why])).toEqual([
      [2, 'output-without-call'],
      [1, 'call-without-output'],
    ])
  })

  test('a tool call without a name is not sent to Gemini, nor is its output', () => {
    const { body, codes } = encode([hi, call('a', '', {}), output('a', '1'), hi])
    expect(body['contents']).toHaveLength(1)
    expect(codes).toEqual(['call-without-name', 'output-without-call'])
  })

  test('invalid tool arguments and custom tool input are sent to Gemini within an object', () => {
    const broken: Item = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"at":' }
    const free: Item = { type: 'custom_tool_call', call_id: 'b', name: 'grep', input: 'a b' }
    const freeOutput: Item = { type: 'custom_tool_call_output', call_id: 'b', output: 'c' }
    const { body, codes } = encode([hi, broken, free, output('a', ''), freeOutput], {
      model: 'gemini-2.5-pro',
    })
    expect(body['contents']).toMatchObject([
      {},
      {
        parts: [
          { functionCall: { name: 'look', args: { arguments: '{"at":' } } },
          { functionCall: { name: 'grep', args: { input: 'a b' } } },
        ],
      },
      {},
    ])
    expect(codes).toEqual(['arguments-not-an-object', 'custom-call'])
  })

  test('a tool output with numbers that JSON.parse would round is sent to Gemini as text', () => {
    const encodedOutputs = ['{"id":12345678901234567890}', '{broken', '[1]', 'plain'].map((text) =>
      encodeTurns([hi, call('a', 'look', {}), output('a', text)], { model: 'gemini-2.5-pro' }),
    )
    expect(encodedOutputs).toMatchObject(
      ['{"id":12345678901234567890}', '{broken', '[1]', 'plain'].map((text) => [
        {},
        {},
        { parts: [{ functionResponse: { response: { output: text } } }] },
      ]),
    )
  })

  test('an invalid tool name is changed in the same way in all parts of a Gemini request', () => {
    const tool = { type: 'function', description: null, parameters: null, strict: false } as const
    const { body } = encode([hi, call('a', '2nd/tool', {}), output('a', '')], {
      tools: [{ ...tool, name: '2nd/tool' }],
      toolChoice: { type: 'function', name: '2nd/tool' },
    })
    const names = JSON.stringify(body).match(/_2nd_tool_[a-z0-9]+/g)
    expect(names).toHaveLength(4)
    expect(new Set(names).size).toBe(1)
  })

  test('images of a tool output are sent within the response from Gemini 3 on, and after it for older models', () => {
    const items = [
      hi,
      call('a', 'shoot', {}, { thoughtSignature: 'S' }),
      call('b', 'look', {}),
      output('a', [{ type: 'input_text', text: 'Done.' }, image('AAAA')]),
      output('b', 'x'),
    ]
    expect(encodeTurns(items)).toMatchObject([
      {},
      {},
      {
        parts: [
          {
            functionResponse: {
              response: { output: 'Done.' },
              parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
            },
          },
          { functionResponse: { name: 'look' } },
        ],
      },
    ])
    expect(encodeTurns(items, { model: 'gemini-2.5-flash' })).toMatchObject([
      {},
      {},
      {
        parts: [
          { functionResponse: { response: { output: 'Done.' } } },
          { functionResponse: { name: 'look' } },
          { text: '[Gateway notice: What follows was returned by shoot.]' },
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        ],
      },
    ])
  })
})

describe('thought signatures in Gemini requests', () => {
  const STAND_IN = 'skip_thought_signature_validator'

  function signedCalls(items: readonly Item[], model = 'gemini-3.8-flash') {
    const { body, codes } = encode(items, { model })
    const signatures = [
      ...JSON.stringify(body).matchAll(
        /"functionCall":\{[^}]*\}\}(?:,"thoughtSignature":"([^"]*)")?/g,
      ),
    ].map((match) => match[1] ?? null)
    return { signatures, codes: codes }
  }

  test('the first of parallel calls of another model gets the text that Gemini 3 accepts instead of a signature (C98)', () => {
    const items = [
      hi,
      call('a', 'f', {}),
      call('b', 'f', {}),
      output('a', ''),
      output('b', ''),
      call('c', 'f', {}),
      output('c', ''),
    ]
    expect(signedCalls(items)).toEqual({
      signatures: [STAND_IN, null, STAND_IN],
      codes: ['signature-stand-in', 'signature-stand-in'],
    })
    expect(signedCalls(items, 'gemini-2.5-pro')).toEqual({
      signatures: [null, null, null],
      codes: [],
    })
  })

  test("a Gemini call's signature is restored from the reasoning item before it", () => {
    const sealed: Item = {
      type: 'reasoning',
      summary: [],
      encrypted_content: 'gemini:1:gemini-3.8-flash:SIG',
    }
    const items = [
      hi,
      sealed,
      call('a', 'f', {}),
      call('b', 'f', {}),
      output('a', ''),
      output('b', ''),
    ]
    expect(signedCalls(items)).toEqual({ signatures: ['SIG', null], codes: [] })
    expect(signedCalls(items, 'gemini-3.1-flash-preview').signatures).toEqual(['SIG', null])
    expect(signedCalls(items, 'gemini-flash-latest').signatures).toEqual(['SIG', null])
    const elsewhere = signedCalls(items, 'gemini-3.1-pro-preview')
    expect(elsewhere.signatures).toEqual([STAND_IN, null])
    expect(elsewhere.codes).toEqual(['signature-of-elsewhere', 'signature-stand-in'])
  })

  test('a thought signature is sent only to the account and the kind of model that made it (C98)', () => {
    const origin: Origin = {
      wire: 'gemini',
      account: 'google',
      model: 'gemini-3.8-flash',
      prefixHash: null,
    }
    const from = (more: Partial<Origin>): Item[] => [
      hi,
      { ...call('a', 'f', {}, { thoughtSignature: 'SIG' }), origin: { ...origin, ...more } },
      output('a', ''),
    ]
    expect(signedCalls(from({})).signatures).toEqual(['SIG'])
    for (const other of [{ account: 'other' }, { model: 'gemini-4-pro' }, { wire: 'anthropic' }]) {
      expect(signedCalls(from(other))).toEqual({
        signatures: [STAND_IN],
        codes: ['signature-of-elsewhere', 'signature-stand-in'],
      })
    }
  })

  const signed: Item = {
    ...(message('assistant', 'This is it.') as Item & { type: 'message' }),
    native: {
      gemini: {
        signatures: [
          { start: 0, end: 4, thoughtSignature: 'S1' },
          { start: 11, end: 11, thoughtSignature: 'S2' },
        ],
        chars: 11,
      },
    },
  }

  test('a signed span of text becomes a separate part of a Gemini request', () => {
    expect(encodeTurns([hi, signed, hi])).toMatchObject([
      {},
      {
        parts: [
          { text: 'This', thoughtSignature: 'S1' },
          { text: ' is it.' },
          { text: '', thoughtSignature: 'S2' },
        ],
      },
      {},
    ])
  })

  test('a text of another account or model is sent to Gemini without its signature (C98)', () => {
    const here = { wire: 'gemini', account: 'google', model: 'gemini-3.8-flash', prefixHash: null }
    const from = (more: Partial<Origin>): Item => ({ ...signed, origin: { ...here, ...more } })
    expect(encode([hi, from({}), hi]).codes).toEqual([])
    for (const other of [{ account: 'other' }, { model: 'gemini-4-pro' }, { wire: 'chat' }]) {
      const { body, codes } = encode([hi, from(other), hi])
      expect(body['contents']).toMatchObject([{}, { parts: [{ text: 'This is it.' }] }, {}])
      expect(JSON.stringify(body)).not.toContain('thoughtSignature')
      expect(codes).toEqual(['signature-of-elsewhere'])
    }
  })

  test('an edited text is sent to Gemini without its signature', () => {
    const edited = { ...signed, content: [{ type: 'output_text', text: 'It is.' }] } as Item
    const { body, codes } = encode([hi, edited, hi])
    expect(body['contents']).toMatchObject([{}, { parts: [{ text: 'It is.' }] }, {}])
    expect(codes).toEqual(['signature-of-edited-text'])
  })

  test('only the signed spans of a thought are sent to Gemini', () => {
    const summary = [{ type: 'summary_text', text: 'Hm. So.' }] as const
    const gemini = {
      signatures: [{ start: 4, end: 7, thoughtSignature: 'S' }],
      chars: 7,
      after: ['A'],
    }
    const { body, codes } = encode([
      hi,
      { type: 'reasoning', summary },
      { type: 'reasoning', summary, native: { gemini: {} } },
      { type: 'reasoning', summary, native: { gemini } },
      message('assistant', 'Yes.'),
      hi,
    ])
    expect(body['contents']).toMatchObject([
      {},
      {
        parts: [
          { text: 'So.', thought: true, thoughtSignature: 'S' },
          { text: '', thoughtSignature: 'A' },
          { text: 'Yes.' },
        ],
      },
      {},
    ])
    expect(codes).toEqual(['foreign-reasoning', 'thoughts-not-sent', 'thoughts-not-sent'])
  })
})

describe('generated images and unknown items in Gemini requests', () => {
  const picture: Item = {
    type: 'opaque',
    raw: { type: 'image_generation_call', result: 'AAAA', output_format: 'png' },
  }

  test('an image that Gemini generated is sent back signed, and one of another provider as user input', () => {
    const geminiPicture: Item = { ...picture, native: { gemini: { thoughtSignature: 'S' } } }
    const blob = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
    expect(encodeTurns([hi, geminiPicture, hi])).toMatchObject([
      {},
      { parts: [{ ...blob, thoughtSignature: 'S' }] },
      {},
    ])
    const { body, codes } = encode([
      hi,
      message('assistant', 'Look:'),
      picture,
      message('user', 'Nice'),
    ])
    expect(body['contents']).toMatchObject([
      {},
      { parts: [{ text: 'Look:' }] },
      {
        parts: [
          { text: '[Gateway notice: What follows is from the assistant’s last message.]' },
          blob,
          { text: 'Nice' },
        ],
      },
    ])
    expect(codes).toEqual(['media-moved'])
  })

  test('an image in the last assistant message is sent to Gemini in a user turn after it', () => {
    expect(encodeTurns([hi, message('assistant', 'Look:', image('AAAA'))])).toMatchObject([
      {},
      { parts: [{ text: 'Look:' }] },
      { role: 'user', parts: [{}, { inlineData: { data: 'AAAA' } }] },
    ])
    expect(encodeTurns([hi, message('assistant', image('AAAA')), hi])).toMatchObject([
      { parts: [{ text: 'Hi' }, {}, { inlineData: { data: 'AAAA' } }, { text: 'Hi' }] },
    ])
  })

  test('a Gemini part of an unknown type is sent back unchanged', () => {
    const part = { executableCode: { language: 'PYTHON', code: '1' } }
    const raw = { type: 'gemini:part', part }
    expect(encodeTurns([hi, { type: 'opaque', raw, native: { gemini: {} } }, hi])).toMatchObject([
      {},
      { parts: [part] },
      {},
    ])
    expect(encode([hi, { type: 'opaque', raw: { type: 'web_search_call' } }]).notes).toEqual([
      { did: 'dropped', at: 1, why: 'hosted-item', detail: 'web_search_call', by: 'gemini' },
    ])
  })
})

test('arguments and outputs with too many values or levels, alone or together, are sent to Gemini as text', () => {
  const many = `{"a":[${'[],'.repeat(19_000)}[]]}`
  const texts = [`{"a":[${'{},'.repeat(30_000)}{}]}`, '{"a":'.repeat(501) + '1' + '}'.repeat(501)]
  const calls = [...texts, ...Array.from({ length: 6 }, () => many)].flatMap((text, at) => [
    { ...call(`call_${at}`, 'look', {}), arguments: text },
    output(`call_${at}`, text),
  ])
  const sent = JSON.stringify(encode([hi, ...calls]).body)
  for (const text of texts) {
    expect(sent).toContain(`"args":${JSON.stringify({ arguments: text })}`)
    expect(sent).toContain(`"response":${JSON.stringify({ output: text })}`)
  }
  // 10 of the 12 texts have up to 200,000 values together.
  expect(sent.split(`:${many}`)).toHaveLength(10 + 1)
  expect(sent).toContain(JSON.stringify({ output: many }))
})
