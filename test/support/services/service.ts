/**
 * A service that a gateway may have behind it: one wire, with its laws and its own words for an
 * answer. It is told an answer as beats (`model.ts`), writes it as one body, and cuts that body into
 * the events of its stream.
 */
import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'
import type { Asked, Spoken } from './model.ts'

export interface Service {
  readonly name: 'chat' | 'responses' | 'anthropic' | 'gemini'
  readonly serves: (path: string) => boolean
  /** What the service would refuse the request for, as it stands; `null` for a lawful one. */
  readonly breach: (request: Request) => Refusal | null
  /** What it would refuse because it has sealed something else, or nothing of the kind. */
  readonly forgery: (request: Request, issued: Issued) => Refusal | null
  readonly read: (request: Request) => Asked
  /** An answer that is not streamed. What of it must come back unchanged is issued. */
  readonly whole: (spoken: Spoken, request: Request, place: Place) => JsonObject
  /** The same as a stream, event for event. */
  readonly stream: (whole: JsonObject, manner: Manner) => readonly string[]
  readonly wantsStream: (request: Request) => boolean
}

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: JsonObject
}

export interface Refusal {
  readonly status: number
  readonly body: JsonObject
}

/** `odd` is everything at once that services of this wire have been seen to do. */
export type Manner = 'plain' | 'odd'

export interface Place {
  /** Counts the answers of the service, from 1. */
  readonly number: number
  readonly issued: Issued
}

/**
 * What a service has sealed, by the seal: it knows its own when they come back, and what they were
 * put on.
 */
export interface Issued {
  readonly seal: (maker: string, what: Json) => string
  /** Under a name of the service's own, as that of a call. */
  readonly note: (name: string, what: Json) => void
  readonly find: (seal: unknown) => Json | undefined
  /** What was left out of a request without an error, in order. */
  readonly dropped: string[]
}

/** Every key of this kind is one of the services', and an account of its own. */
export const KEY = /^sk-upstream(?:-\w+)?$/

export function newIssued(): Issued {
  const known = new Map<unknown, Json>()
  return {
    seal(maker, what) {
      const text = `${maker} ${known.size} ${JSON.stringify(what)}`
      const seal = `${maker}${createHash('sha256').update(text).digest('base64url')}==`
      known.set(seal, what)
      return seal
    },
    note: (name, what) => void known.set(name, what),
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

/** The text of a string, or of a list of parts. */
export function textIn(content: unknown): string {
  return typeof content === 'string' ? content : textsIn(content).join('')
}

/** Where messages were merged, each of them is a part. */
export function textsIn(parts: unknown): readonly string[] {
  return objects(parts).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
}

/** A text in pieces, cut between any two of its characters. */
export function pieces(text: string): readonly string[] {
  const letters = Array.from(text)
  const size = Math.max(1, Math.ceil(letters.length / 3))
  return [0, 1, 2]
    .map((at) => letters.slice(at * size, (at + 1) * size).join(''))
    .filter((piece) => piece !== '')
}
