/**
 * A test service for one wire, with the rules and error messages of the real service. It gets an answer as
 * parts (`simulated-model.ts`), writes it as one body, and splits that body into stream events.
 */
import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'
import type { ModelRequest, ModelAnswer } from './simulated-model.ts'

export interface Service {
  readonly name: 'chat' | 'responses' | 'anthropic' | 'gemini'
  readonly serves: (path: string) => boolean
  /** Returns the error for an invalid request; null for a valid one. */
  readonly findViolation: (request: Request) => ErrorResponse | null
  /** Returns the error for encrypted content that the service did not issue, or issued elsewhere. */
  readonly findInvalidSeal: (request: Request, issued: IssuedSeals) => ErrorResponse | null
  readonly read: (request: Request) => ModelRequest
  /** Builds a non-streamed answer, and registers the content that must come back unchanged. */
  readonly buildBody: (spoken: ModelAnswer, request: Request, place: AnswerContext) => JsonObject
  /** Splits the answer into the frames of a stream. */
  readonly buildStream: (whole: JsonObject, manner: AnswerStyle) => readonly string[]
  readonly wantsStream: (request: Request) => boolean
}

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: JsonObject
}

export interface ErrorResponse {
  readonly status: number
  readonly body: JsonObject
}

/** `odd` combines all deviations that were seen in services of this wire. */
export type AnswerStyle = 'plain' | 'odd'

export interface AnswerContext {
  /** The number of the service's answer, from 1. */
  readonly number: number
  readonly issued: IssuedSeals
}

/** The encrypted content that a service issued, so that it recognizes its own and the prefix of each. */
export interface IssuedSeals {
  readonly seal: (maker: string, what: Json) => string
  /** Registers a value under a name of the service, e.g. a call id. */
  readonly register: (name: string, what: Json) => void
  readonly find: (seal: unknown) => Json | undefined
  /** The content that was ignored without an error, in order. */
  readonly dropped: string[]
}

/** Every key of this form is valid, and belongs to an account of its own. */
export const KEY = /^sk-upstream(?:-\w+)?$/

export function createIssuedSeals(): IssuedSeals {
  const known = new Map<unknown, Json>()
  return {
    seal(maker, what) {
      const text = `${maker} ${known.size} ${JSON.stringify(what)}`
      const seal = `${maker}${createHash('sha256').update(text).digest('base64url')}==`
      known.set(seal, what)
      return seal
    },
    register: (name, what) => void known.set(name, what),
    find: (seal) => known.get(seal),
    dropped: [],
  }
}

export function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isObject) : []
}

export function object(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Returns the text of a string or of a list of parts. */
export function textIn(content: unknown): string {
  return typeof content === 'string' ? content : textsIn(content).join('')
}

/** Returns the texts of parts; merged messages have one part each. */
export function textsIn(parts: unknown): readonly string[] {
  return objects(parts).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
}

/** Splits a text into three pieces between characters. */
export function splitIntoPieces(text: string): readonly string[] {
  const letters = Array.from(text)
  const size = Math.max(1, Math.ceil(letters.length / 3))
  return [0, 1, 2]
    .map((at) => letters.slice(at * size, (at + 1) * size).join(''))
    .filter((piece) => piece !== '')
}
