/**
 * What: whether a sanitizer is compiled in. The address and the thread sanitizer keep freed memory
 *   for a while, so a bound on memory holds without them only.
 */
#ifndef TESTS_SUPPORT_SANITIZED_H
#define TESTS_SUPPORT_SANITIZED_H

#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define SANITIZED true
#elif !defined(SANITIZED)
#define SANITIZED false
#endif

#endif
