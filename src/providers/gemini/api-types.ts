/**
 * What the Gemini API takes and gives (`generateContent`, `streamGenerateContent`), with only the
 * fields we use. What comes from the service is read with care all the same: any field may be
 * missing, and a proxy in between may send anything.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Json, JsonObject } from '../../core/json/json.ts'

export type GeminiContent = {
  readonly role: 'user' | 'model'
  readonly parts: readonly GeminiPart[]
}

/** One of `text`, `inlineData`, `fileData`, `functionCall` and `functionResponse`, or another. */
export type GeminiPart = {
  readonly text?: string
  /** The text is a summary of what the model thought. */
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: InlineBlob
  readonly fileData?: { readonly fileUri: string; readonly mimeType?: string }
  readonly functionCall?: GeminiFunctionCall
  readonly functionResponse?: WireResponse
}

/** `data` is base64. */
export type InlineBlob = { readonly mimeType: string; readonly data: string }

export type GeminiFunctionCall = {
  readonly id?: string
  readonly name: string
  readonly args?: JsonObject
}

type WireResponse = {
  readonly id?: string
  readonly name: string
  readonly response: JsonObject
  /** Media of the result; understood from Gemini 3 on. */
  readonly parts?: readonly { readonly inlineData: InlineBlob }[]
}

/** A whole answer, or one chunk of a streamed one: the shape is the same. */
export interface GeminiChunk {
  readonly responseId?: string
  readonly modelVersion?: string
  readonly candidates?: readonly GeminiCandidate[]
  readonly promptFeedback?: { readonly blockReason?: string }
  readonly usageMetadata?: UsageMetadata
  readonly error?: GeminiError
}

export interface GeminiCandidate {
  readonly index?: number
  readonly content?: { readonly parts?: readonly GeminiPart[] }
  readonly finishReason?: string
  readonly finishMessage?: string
  readonly groundingMetadata?: GroundingMetadata
  readonly logprobsResult?: LogprobsResult
}

export interface UsageMetadata {
  readonly promptTokenCount?: number
  readonly cachedContentTokenCount?: number
  readonly toolUsePromptTokenCount?: number
  readonly candidatesTokenCount?: number
  readonly thoughtsTokenCount?: number
  readonly totalTokenCount?: number
}

export interface GroundingMetadata {
  readonly groundingChunks?: readonly {
    readonly web?: { readonly uri?: string; readonly title?: string }
  }[]
  readonly groundingSupports?: readonly {
    /** Places are counted in bytes of UTF-8. */
    readonly segment?: {
      readonly startIndex?: number
      readonly endIndex?: number
      readonly text?: string
    }
    readonly groundingChunkIndices?: readonly number[]
  }[]
}

export interface LogprobsResult {
  readonly chosenCandidates?: readonly GeminiLogprob[]
  readonly topCandidates?: readonly { readonly candidates?: readonly GeminiLogprob[] }[]
}

export interface GeminiLogprob {
  readonly token?: string
  readonly logProbability?: number
}

/** The error of Google's APIs: https://google.aip.dev/193 */
export interface GeminiError {
  readonly code?: number
  readonly message?: string
  readonly status?: string
  readonly details?: readonly Json[]
}

/** Every ending that is documented. `STOP` is the only one that means a finished answer. */
export type GeminiFinishReason =
  | 'STOP'
  | 'MAX_TOKENS'
  | 'SAFETY'
  | 'RECITATION'
  | 'BLOCKLIST'
  | 'PROHIBITED_CONTENT'
  | 'SPII'
  | 'MODEL_ARMOR'
  | 'IMAGE_SAFETY'
  | 'IMAGE_PROHIBITED_CONTENT'
  | 'IMAGE_RECITATION'
  | 'IMAGE_OTHER'
  | 'NO_IMAGE'
  | 'LANGUAGE'
  | 'OTHER'
  | 'MALFORMED_FUNCTION_CALL'
  | 'UNEXPECTED_TOOL_CALL'
  | 'TOO_MANY_TOOL_CALLS'
  | 'MISSING_THOUGHT_SIGNATURE'
  | 'MALFORMED_RESPONSE'
