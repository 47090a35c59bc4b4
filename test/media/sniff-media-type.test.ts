import fc from 'fast-check'
import { expect, test } from 'vitest'
import { looksLikeMarkup, sniffMediaType } from '../../src/media/sniff-media-type.ts'
import { createFileBytes, KINDS } from './pictures.ts'

test.each(KINDS)('sniffMediaType recognizes a %s by its first bytes (C85)', (kind) => {
  expect(sniffMediaType(createFileBytes(kind))).toBe(kind)
})

test('sniffMediaType recognizes the first frame of an MP3 without tags, and returns null for AAC', () => {
  expect(sniffMediaType(new Uint8Array([0xff, 0xfb, 0x90, 0x64]))).toBe('audio/mpeg')
  expect(sniffMediaType(new Uint8Array([0xff, 0xf1, 0x50, 0x80]))).toBeNull()
})

test('looksLikeMarkup recognizes HTML, XML and SVG, for which sniffMediaType returns null', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  for (const text of [
    '<!doctype html><p>Not found',
    '\n  <html>',
    '<?xml version="1.0"?>',
    '<svg ',
  ]) {
    expect(sniffMediaType(bytes(text))).toBeNull()
    expect(looksLikeMarkup(bytes(text))).toBe(true)
  }
  expect(sniffMediaType(bytes('BMX bikes are fun'))).toBeNull()
  expect(looksLikeMarkup(bytes('a < b'))).toBe(false)
})

test('sniffMediaType accepts any bytes without throwing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const type = sniffMediaType(bytes)
      expect(type === null || /^\w+\/[\w-]+$/.test(type)).toBe(true)
      expect(typeof looksLikeMarkup(bytes)).toBe('boolean')
    }),
  )
})
