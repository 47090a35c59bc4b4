/**
 * The Gemini API: signs the first call of every step and the end of its text. From the third generation on, a
 * signature must come back on the same part.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { findGeminiRefusal } from '../gemini-laws.ts'
import { USAGE, type AnswerPart } from './simulated-model.ts'
import {
  object,
  objects,
  splitIntoPieces,
  textIn,
  textsIn,
  type IssuedSeals,
  type AnswerStyle,
  type AnswerContext,
  type ErrorResponse,
  type Service,
} from './service.ts'

export const gemini: Service = {
  name: 'gemini',
  serves: (path) => path.includes('enerateContent'),
  wantsStream: ({ path }) => path.includes('streamGenerateContent'),
  findViolation({ path, body, headers }) {
    if (headers['x-goog-api-key'] !== 'sk-upstream') return BAD_KEY
    const refusal = findGeminiRefusal(path.slice(path.indexOf('/models/')), body)
    return refusal === null ? null : { status: 400, body: refusal }
  },
  findInvalidSeal({ body }, issued) {
    const [fault] = signatureFaults(body, issued)
    return fault === undefined ? null : errorResponse(400, fault, 'INVALID_ARGUMENT')
  },
  read({ body }) {
    const contents = objects(body['contents'])
    const isAsked = ({ role, parts }: JsonObject) =>
      role === 'user' && objects(parts).some((part) => part['functionResponse'] === undefined)
    const asked = contents.findLastIndex(isAsked)
    const last = contents.at(-1)
    const config = object(body['generationConfig'])
    const schema = config['responseSchema'] ?? config['responseJsonSchema']
    const declared = objects(body['tools']).flatMap((tool) => objects(tool['functionDeclarations']))
    const thinking = object(config['thinkingConfig'])
    return {
      system: textIn(object(body['systemInstruction'])['parts']),
      questions: contents.filter(isAsked).flatMap(({ parts }) => textsIn(parts)),
      outputs: contents
        .slice(asked)
        .flatMap(({ parts }) => objects(parts))
        .filter((part) => part['functionResponse'] !== undefined)
        .map(({ functionResponse }) =>
          String(object(object(functionResponse)['response'])['output']),
        ),
      tools: declared.map(({ name }) => String(name)),
      schema: isObject(schema) ? schema : null,
      images: objects(contents[asked]?.['parts']).filter(({ inlineData }) => isObject(inlineData))
        .length,
      prefill: last?.['role'] === 'model' ? textIn(last['parts']) : null,
      mayThink: thinking['includeThoughts'] === true,
    }
  },
  buildBody({ parts: answerParts, isCut }, { path }, place) {
    const model = /\/models\/([^:]+):/.exec(path)?.[1] ?? ''
    const parts = partsOf(answerParts, place)
    const isRefused = answerParts.some(({ type }) => type === 'refusal')
    return {
      candidates: [
        {
          ...(isRefused ? {} : { content: { role: 'model', parts } }),
          finishReason: isRefused ? 'SAFETY' : isCut ? 'MAX_TOKENS' : 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: USAGE.input,
        cachedContentTokenCount: USAGE.cached,
        candidatesTokenCount: USAGE.output - USAGE.reasoning,
        thoughtsTokenCount: USAGE.reasoning,
        totalTokenCount: USAGE.input + USAGE.output,
      },
      modelVersion: model,
      responseId: `gem${place.number}`,
    }
  },
  buildStream: streamFrames,
}

function errorResponse(status: number, message: string, name: string): ErrorResponse {
  return { status, body: { error: { code: status, message, status: name } } }
}

const BAD_KEY: ErrorResponse = {
  status: 400,
  body: {
    error: {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    },
  },
}

/** In odd answers, calls have no ids. */
function partsOf(
  answerParts: readonly AnswerPart[],
  { number, issued }: AnswerContext,
): readonly JsonObject[] {
  const isSigned = answerParts.some(({ type }) => type === 'thought')
  const firstCall = answerParts.findIndex(({ type }) => type === 'call')
  const parts = answerParts.flatMap((part, at): readonly JsonObject[] => {
    switch (part.type) {
      case 'thought':
        return [{ text: part.text, thought: true }]
      case 'text':
        return [{ text: part.text }]
      case 'refusal':
        return []
      case 'call': {
        const ids = number % 2 === 0 ? {} : { id: `w${number}_${at}` }
        const functionCall = { ...ids, name: part.name, args: part.input }
        if (at !== firstCall || !isSigned) return [{ functionCall }]
        return [{ functionCall, thoughtSignature: issued.seal('Ck', { functionCall }) }]
      }
    }
  })
  const isText = firstCall < 0 && isSigned && parts.length > 0
  return isText
    ? [...parts, { text: '', thoughtSignature: issued.seal('Ct', { text: '' }) }]
    : parts
}

const STAND_IN = 'skip_thought_signature_validator'

function signatureFaults(body: JsonObject, issued: IssuedSeals): readonly string[] {
  return objects(body['contents'])
    .flatMap(({ parts }) => objects(parts))
    .flatMap(({ thoughtSignature, ...part }) => {
      if (thoughtSignature === undefined || thoughtSignature === STAND_IN) return []
      const given = object(issued.find(thoughtSignature))
      const isSame = JSON.stringify(withIdOf(part, given)) === JSON.stringify(part)
      return isSame ? [] : ['Corrupted thought signature.']
    })
}

/** A call may come back without its id, but not with another one. */
function withIdOf(part: JsonObject, given: JsonObject): JsonObject {
  const { functionCall } = part
  const signed = given['functionCall']
  if (!isObject(functionCall) || !isObject(signed) || functionCall['id'] !== undefined) return given
  const { id: _id, ...rest } = signed
  return { functionCall: rest }
}

/** Sends bodies with some parts each; an odd stream has its usage in the last one. */
function streamFrames(whole: JsonObject, manner: AnswerStyle): readonly string[] {
  const { usageMetadata, ...head } = whole
  const [candidate = {}] = objects(whole['candidates'])
  const parts = objects(object(candidate['content'])['parts']).flatMap(splitPart)
  const isOdd = manner === 'odd'
  const { finishReason, index } = candidate
  const early = isOdd ? {} : { usageMetadata: { promptTokenCount: USAGE.input } }
  const said = parts.map((part) => ({
    candidates: [{ content: { parts: [part], role: 'model' }, index }],
    ...early,
    ...rest(head),
  }))
  const chunks: JsonObject[] = isOdd
    ? [
        ...said,
        { candidates: [{ finishReason, index }], ...rest(head) },
        { usageMetadata, ...rest(head) },
      ]
    : [
        ...said,
        {
          candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason, index }],
          usageMetadata,
          ...rest(head),
        },
      ]
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
}

function rest({ modelVersion, responseId }: JsonObject): JsonObject {
  return { modelVersion, responseId }
}

function splitPart(part: JsonObject): readonly JsonObject[] {
  const { text, thoughtSignature } = part
  if (typeof text !== 'string' || text === '' || thoughtSignature !== undefined) return [part]
  return splitIntoPieces(text).map((piece) => ({ ...part, text: piece }))
}
