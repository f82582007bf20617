"""Rewrites the parts of CUDA C++ that a C++ compiler cannot read. All other text, and each line's
number, stay as they are.

    k<T><<<g, b>>>(x)                ::mini::cuda::mini_kernel(...k<T>...)(::mini::cuda::Config(g, b))(x)
    threadIdx.x                      ::mini::cuda::at(threadIdx).x
    cudaLaunchKernel((void*)k, ...)  cudaLaunchKernel(k, ...), which needs the parameters' types
    extern __shared__ int s[];       int (&s)[] = ::mini::cuda::dynamic_shared();
    __device__ float v[3] = {1};     static float v_first[3] = {1}; float (&v)[3] = ...
    __forceinline__                  inline, unless that is there already
    #include "reduce.cuh"            the file that `include` returns

program.hpp declares the names in mini::cuda.
"""

import re

TOKEN = re.compile(r"""
    (?P<blank>(?:\s|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*(?s:.*?)(?:\*/|\Z))*)
    (?P<text>(?:u8|[LuU])?R"(?P<mark>[^\s()\\]*)\((?s:.*?)(?:\)(?P=mark)"|\Z)   # a raw string
      |(?:u8|[LuU])?(?:"(?:\\(?s:.)|[^"\\\n])*"?|'(?:\\(?s:.)|[^'\\\n])*'?)
      |\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*                                      # 1'000, 0x1p-3f
      |\w+|<<<|>>>|<<|>>|<=|>=|::|->|(?s:.)|\Z)""", re.X)
# What translate() may rewrite.
CUDA = re.compile(r'__global__|__device__|__shared__|__constant__|<<<|threadIdx|blockIdx|\.cuh?"'
                  r'|<(cu|device_|math_|vector_)\w+[./]')
OPEN, CLOSE = {"(", "[", "{"}, {")", "]", "}"}
SPECIFIERS = set("static const volatile inline extern constexpr __device__ __constant__ __managed__ "
                 "__shared__ __host__ __restrict__".split())
ALIGNED = {"__align__", "alignas", "__attribute__", "__launch_bounds__"}
LAUNCH = ("::mini::cuda::mini_kernel([&](auto mini_take) -> decltype(mini_take({0})) {{ return mini_take({0}"
          "); }}, [=](auto... mini_values) MINI_UNCHECKED {{ {0}(mini_values...); }}, MINI_TEXT({0}))"
          "(::mini::cuda::Config(")
VARIABLE = ("static {type} {name}_first{rest}; {where}decltype({name}_first)& {name} MINI_PLACE = "
            "::mini::cuda::device_variable({name}_first)")


def translate(text, include):
    """Returns the C++ text of a CUDA C++ text. include(name, is_quoted) returns the file to include
    in place of `name`, or None to leave it."""
    return Translator(text, include).run()


class Translator:
    """Tokens, each with the blanks and comments before it. The first and the last are empty."""

    def __init__(self, text, include):
        self.include = include
        self.tokens, self.blanks = [""], [""]
        for match in TOKEN.finditer(text):
            self.blanks.append(match["blank"])
            self.tokens.append(match["text"])
        self.renamed = {}  # dynamic arrays at file scope
        self.depth = {"{": 0, "(": 0}

    def run(self):
        i = 1
        while i < len(self.tokens):
            token = self.tokens[i]
            for opening, closing in ("{}", "()"):
                self.depth[opening] += (token == opening) - (token == closing)
            if token == "#" and (i == 1 or "\n" in self.blanks[i]):
                i = self.directive(i)
            elif token == "<<<":
                self.launch(i)
            else:
                self.word(i, token)
            i += 1
        return "".join(blank + token for blank, token in zip(self.blanks, self.tokens))

    def is_word(self, i):
        return re.fullmatch(r"[A-Za-z_]\w*", self.tokens[i]) is not None

    def closing(self, opening):
        """Returns the position of the bracket that closes another, or the end."""
        depth = 0
        for i in range(opening, len(self.tokens)):
            depth += (self.tokens[i] in OPEN) - (self.tokens[i] in CLOSE)
            if depth == 0:
                return i
        return len(self.tokens) - 1

    def opening(self, closing):
        """Returns the position of the bracket, also <, that opens another, or 0."""
        depth = angles = 0
        is_angle = self.tokens[closing][0] == ">"
        for i in range(closing, 0, -1):
            token = self.tokens[i]
            depth += (token in CLOSE) - (token in OPEN)
            if is_angle and depth == 0:
                angles += (token in (">", ">>", ">>>")) * len(token) - (token == "<")
            if depth < 0 or token == ";":
                return 0
            if depth == 0 and angles <= 0 and (token == "<" if is_angle else token in OPEN):
                return i
        return 0

    def find(self, i, ends):
        """Returns the first position from i on, outside of brackets, of a token in `ends`, or the end."""
        while i < len(self.tokens) - 1 and self.tokens[i] not in ends:
            i = (self.closing(i) if self.tokens[i] in OPEN else i) + 1
        return min(i, len(self.tokens) - 1)

    def text_of(self, begin, end):
        return "".join((" " if self.blanks[i] else "") + self.tokens[i] for i in range(begin, end))

    def clear(self, begin, end):
        """Removes the tokens from `begin` on, but not the ends of their lines."""
        for i in range(begin, end):
            lines = "".join(re.findall(r"\\?\r?\n", self.blanks[i] + self.tokens[i]))
            self.blanks[i], self.tokens[i] = lines or " ", ""

    def directive(self, hash_):
        """Returns the position of the last token that is not read: of #include and its like."""
        if self.tokens[hash_ + 1] not in ("include", "pragma", "error", "warning"):
            return hash_
        end = hash_ + 1
        while end < len(self.tokens) and not re.search(r"(?<!\\)\n", self.blanks[end]):
            end += 1
        if self.tokens[hash_ + 1] == "include":
            name = self.text_of(hash_ + 2, end).strip()
            file = self.include(name[1:-1], name[:1] == '"')
            if file:
                self.clear(hash_ + 2, end)
                self.tokens[hash_ + 2] = f'"{file}"'
        return end - 1

    def word(self, i, token):
        before, after = self.tokens[i - 1], self.tokens[min(i + 1, len(self.tokens) - 1)]
        is_member = before in (".", "->", "::")
        if token in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            if after == "." and not is_member:
                self.tokens[i] = f"::mini::cuda::at({token})"
        elif token == "__shared__":
            self.shared(i)
        elif token in ("__device__", "__constant__", "__managed__"):
            if self.depth["("] == 0:
                self.variable(i)
        elif token in ("__forceinline__", "__inline__"):
            begin = end = i
            while self.tokens[begin - 1] not in ("", ";", "{", "}", "(", ")"):
                begin -= 1
            while self.tokens[end] not in ("", ";", "{", "}", "(", ")"):
                end += 1
            self.tokens[i] = "" if "inline" in self.tokens[begin:end] else "inline"
        elif token == "__noinline__" and before != "(":
            self.tokens[i] = "__attribute__((noinline))"
        elif token in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel"):
            self.keep_type(i + 2)
        elif token in self.renamed and not is_member:
            self.tokens[i] = self.renamed[token]

    def keep_type(self, i):
        """Removes a kernel's cast to void*, if it begins here."""
        end = self.closing(i) + 1 if self.tokens[i] == "(" else self.find(i, {"(", ","})
        if "void" in self.tokens[i:end]:
            self.clear(i, end)

    def first_specifier(self, i):
        while self.tokens[i - 1] in SPECIFIERS or self.tokens[i - 2] == "extern":  # extern T __shared__
            i -= 1
        return i

    def shared(self, i):
        """extern __shared__ becomes a reference."""
        begin, end = self.first_specifier(i), self.find(i, {";", "{", ")"})
        if "extern" not in self.tokens[begin:end] or self.tokens[end] != ";":
            return
        j = begin
        while j < end:
            if self.tokens[j] in ("extern", "__shared__"):
                self.clear(j, j + 1)
            elif self.tokens[j] in ALIGNED:
                self.clear(j, self.closing(j + 1) + 1)
            elif self.is_word(j) and self.tokens[j + 1] == "[":
                if self.depth["{"] == 0:
                    self.renamed[self.tokens[j]] = (
                        f"(*reinterpret_cast<{self.text_of(begin, j)}(*){self.text_of(j + 1, end)}>"
                        "(::mini::sim::dynamic_shared()))")
                    self.clear(begin, end)
                    return
                self.tokens[j] = f"(&{self.tokens[j]})"
                j = self.closing(j + 1)
                while self.tokens[j + 1] == "[":
                    j = self.closing(j + 1)
                self.tokens[j] += " = ::mini::cuda::dynamic_shared()"
            j += 1

    def variable_name(self, begin):
        """Returns the position of the name of the variable that is declared from `begin` on, or 0."""
        j = begin
        while j < len(self.tokens):
            token = self.tokens[j]
            if token in ALIGNED and self.tokens[j + 1] == "(":
                j = self.closing(j + 1)
            elif token == "<":  # a template's arguments
                angles = 1
                while angles > 0 and j + 1 < len(self.tokens):
                    j += 1
                    angles += (self.tokens[j] == "<") - self.tokens[j].count(">")
            elif token in ("constexpr", "extern", "__shared__", "template", "using", "operator",
                           "__global__", "typedef"):
                return 0
            elif self.is_word(j):
                if token not in SPECIFIERS and self.tokens[j + 1] in ("=", "[", ";", ",", "{"):
                    before = self.tokens[j - 1]
                    is_type = before in SPECIFIERS or before in ("::", "struct", "class", "union", "enum")
                    return 0 if j == begin or is_type else j
            elif token not in ("*", "&", "::"):
                return 0
            j += 1
        return 0

    def variable(self, i):
        """Finds whether a variable is declared here, and gives it a place in device memory."""
        begin = self.first_specifier(i)
        name = self.variable_name(begin)
        end = self.find(name, {";"})
        if name == 0 or end == len(self.tokens) - 1:
            return
        words = self.tokens[begin:name]
        if "const" in words and {"=", "{"} & set(self.tokens[name + 1:end]):
            return
        # The type without the words that say where the variable lies.
        kind = "".join(self.text_of(j, j + 1) for j in range(begin, name)
                       if self.tokens[j] not in SPECIFIERS or self.tokens[j] == "volatile")
        declared = []
        while name < end:
            last = self.find(name + 1, {",", ";"})
            declared.append(VARIABLE.format(type=kind, name=self.tokens[name],
                                            rest=self.text_of(name + 1, last),
                                            where="static " if "static" in words else ""))
            name = last + 1
        self.clear(begin, end)
        self.tokens[begin] = "; ".join(declared)

    def begin_of_kernel(self, end):
        """Returns the position where the name of a kernel, which ends before `end`, begins, or 0."""
        begin = end - 1
        while begin > 0:
            while self.tokens[begin] in (">", ">>", ">>>", ")", "]"):
                is_call = self.tokens[begin] == ")"
                begin = self.opening(begin)
                if begin == 0 or is_call:
                    break
                begin -= 1
            if self.tokens[begin - 1] not in ("::", ".", "->"):
                return begin
            if not self.is_word(begin - 2) and self.tokens[begin - 2] not in (">", ">>", ")", "]"):
                return begin - 1
            begin -= 2
        return 0

    def launch(self, i):
        begin, end = self.begin_of_kernel(i), self.find(i + 1, {">>>"})
        if begin == 0 or self.tokens[end] != ">>>":
            return
        name = self.text_of(begin, i).strip()
        self.clear(begin + 1, i)
        self.tokens[begin] = ""
        self.tokens[i] = LAUNCH.format(name)
        self.tokens[end] = "))"
