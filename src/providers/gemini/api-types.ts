/**
 * Types of the Gemini API (`generateContent`, `streamGenerateContent`), limited to the fields that
 * the gateway uses. A proxy may send any other JSON, so each function checks the fields that it
 * reads.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Json, JsonObject } from '../../core/json/json.ts'

export type GeminiContent = {
  readonly role: 'user' | 'model'
  readonly parts: readonly GeminiPart[]
}

/**
 * A part of a message. It has one of `text`, `inlineData`, `fileData`, `functionCall` and
 * `functionResponse`, or an unknown field.
 */
export type GeminiPart = {
  readonly text?: string
  /** True if the text is a summary of the model's thinking. */
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: InlineBlob
  readonly fileData?: { readonly fileUri: string; readonly mimeType?: string }
  readonly functionCall?: GeminiFunctionCall
  readonly functionResponse?: GeminiFunctionResponse
}

/** A medium, e.g. an image, within a request or an answer. `data` is base64. */
export type InlineBlob = { readonly mimeType: string; readonly data: string }

export type GeminiFunctionCall = {
  readonly id?: string
  readonly name: string
  readonly args?: JsonObject
}

type GeminiFunctionResponse = {
  readonly id?: string
  readonly name: string
  readonly response: JsonObject
  /** The media of a tool output, which models from Gemini 3 on accept here. */
  readonly parts?: readonly { readonly inlineData: InlineBlob }[]
}

/** A complete answer, or a chunk of a streamed answer, which has the same format. */
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
    /** The part of the answer's text that the source supports. Indexes count bytes of UTF-8. */
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

/** An error in the format of Google's APIs: https://google.aip.dev/193 */
export interface GeminiError {
  readonly code?: number
  readonly message?: string
  readonly status?: string
  readonly details?: readonly Json[]
}
