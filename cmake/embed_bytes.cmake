# embed_bytes(RET SYMBOL PATH): sets RET to C text that defines char SYMBOL[], the bytes of the file PATH and a NUL, and
# end_of_SYMBOL, which is that NUL. The bytes come from .incbin, so that a large file costs the compiler nothing. The
# compiler does not report that the object depends on PATH: the caller does, with OBJECT_DEPENDS.
function(embed_bytes ret symbol path)
  set(${ret} "__asm__(\".pushsection .rodata\\n\"\n    \".global ${symbol}\\n${symbol}:\\n.incbin \\\"${path}\\\"\\n\"\n    \".global end_of_${symbol}\\nend_of_${symbol}:\\n.byte 0\\n\"\n    \".popsection\\n\");\nextern const char ${symbol}[], end_of_${symbol}[];\n" PARENT_SCOPE)
endfunction()
