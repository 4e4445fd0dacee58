#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/env/int128.hpp"
#include "millrace/runtime/state/fields.hpp"

namespace millrace {

/// How values of T become bytes: little endian, fixed widths, no padding, counts before texts and
/// lists.
///
/// There is nothing to write for numbers, truth values, enumerations, texts, optional, variant,
/// vector, array, pair, map, set, and plain structs of up to 16 such members: those are found by
/// the compiler. For anything else:
///
///     template <>
///     struct millrace::Codec<Money> {
///       static void encode(Encoder& out, const Money& value);
///       static void decode(Decoder& in, Money& value);   // throws CorruptBytes
///       static std::string shape();                      // `money`
///     };
template <class T>
struct Codec;

template <class T>
void encode(Encoder& out, const T& value) {
  Codec<T>::encode(out, value);
}
template <class T>
void decode(Decoder& in, T& value) {
  Codec<T>::decode(in, value);
}
template <class T>
T decoded(Decoder& in) {
  T value{};
  decode(in, value);
  return value;
}

/// The shape of T in words: the types of its members, in order, down to the leaves, such as
/// `{int64, list of text}`. Names do not count. Stored with every piece of state: a member added,
/// removed, moved or retyped changes it.
template <class T>
const std::string& shape() {
  static const std::string words = Codec<T>::shape();
  return words;
}

namespace codec_detail {

template <class... T>
std::string shapes_of() {
  std::string words;
  ((words += (words.empty() ? "" : ", ") + shape<T>()), ...);
  return words;
}

}  // namespace codec_detail

/// Values whose bytes in memory are their encoding: no padding, nothing that points, and no member
/// with a Codec of its own, which may write it otherwise.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                requires { requires Codec<T>::as_in_memory; };

template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::same_as<T, Int128>
struct Codec<T> {
  static void encode(Encoder& out, T value) { out.raw(&value, sizeof value); }
  static void decode(Decoder& in, T& value) { in.raw(&value, sizeof value); }
  static constexpr bool as_in_memory = true;
  static std::string shape() {
    const bool is_float = std::is_floating_point_v<T>;
    const bool is_signed = std::is_signed_v<T> || std::same_as<T, Int128>;
    return (is_float ? "float" : is_signed ? "int" : "uint") + std::to_string(8 * sizeof(T));
  }
};

template <>
struct Codec<bool> {
  static void encode(Encoder& out, bool value) { out.raw(&value, 1); }
  static void decode(Decoder& in, bool& value) {
    value = in.number<std::uint8_t>() != 0;  // Any other byte in a bool is undefined behaviour.
  }
  static constexpr bool as_in_memory = true;
  static std::string shape() { return "bool"; }
};

/// An enumeration that can come from outside says what it has: `constexpr bool is_known(Colour)`
/// beside it. Anything else is refused.
template <class T>
  requires std::is_enum_v<T>
struct Codec<T> {
  static void encode(Encoder& out, T value) { out.raw(&value, sizeof value); }
  static void decode(Decoder& in, T& value) {
    in.raw(&value, sizeof value);
    if constexpr (requires { is_known(value); }) {
      if (!is_known(value)) throw CorruptBytes("an enumeration holds none of its values");
    }
  }
  static constexpr bool as_in_memory = true;
  static std::string shape() { return "enum of " + millrace::shape<std::underlying_type_t<T>>(); }
};

template <>
struct Codec<EventTime> {
  static void encode(Encoder& out, EventTime value) { out.number(value.ms); }
  static void decode(Decoder& in, EventTime& value) { value.ms = in.number<std::int64_t>(); }
  static constexpr bool as_in_memory = true;
  static std::string shape() { return "time"; }
};

template <>
struct Codec<std::string> {
  static void encode(Encoder& out, const std::string& value) { out.text(value); }
  static void decode(Decoder& in, std::string& value) { value = in.text(); }
  static std::string shape() { return "text"; }
};

template <class T>
struct Codec<std::vector<T>> {
  static void encode(Encoder& out, const std::vector<T>& value) {
    out.number(static_cast<std::uint32_t>(value.size()));
    for (const T& element : value) millrace::encode(out, element);
  }
  static void decode(Decoder& in, std::vector<T>& value) {
    // An element takes a byte at least, so a broken count cannot ask for much memory.
    value.resize(in.count(1));
    for (T& element : value) millrace::decode(in, element);
  }
  static std::string shape() { return "list of " + millrace::shape<T>(); }
};

template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
  static void encode(Encoder& out, const std::array<T, N>& value) {
    for (const T& element : value) millrace::encode(out, element);
  }
  static void decode(Decoder& in, std::array<T, N>& value) {
    for (T& element : value) millrace::decode(in, element);
  }
  static std::string shape() { return std::to_string(N) + " of " + millrace::shape<T>(); }
  static constexpr bool as_in_memory = Plain<T>;
};

template <class T>
struct Codec<std::optional<T>> {
  static void encode(Encoder& out, const std::optional<T>& value) {
    millrace::encode(out, value.has_value());
    if (value) millrace::encode(out, *value);
  }
  static void decode(Decoder& in, std::optional<T>& value) {
    value.reset();
    if (decoded<bool>(in)) millrace::decode(in, value.emplace());
  }
  static std::string shape() { return "optional " + millrace::shape<T>(); }
};

template <class... T>
struct Codec<std::variant<T...>> {
  static void encode(Encoder& out, const std::variant<T...>& value) {
    out.number(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& held) { millrace::encode(out, held); }, value);
  }
  static void decode(Decoder& in, std::variant<T...>& value) {
    const auto index = in.number<std::uint8_t>();
    std::uint8_t at = 0;
    const bool known =
        ((at++ == index && (millrace::decode(in, value.template emplace<T>()), true)) || ...);
    if (!known) throw CorruptBytes("a variant holds none of its alternatives");
  }
  static std::string shape() { return "one of (" + codec_detail::shapes_of<T...>() + ")"; }
};

template <class A, class B>
struct Codec<std::pair<A, B>> {
  static void encode(Encoder& out, const std::pair<A, B>& value) {
    millrace::encode(out, value.first);
    millrace::encode(out, value.second);
  }
  static void decode(Decoder& in, std::pair<A, B>& value) {
    millrace::decode(in, value.first);
    millrace::decode(in, value.second);
  }
  static std::string shape() { return "{" + codec_detail::shapes_of<A, B>() + "}"; }
};

namespace codec_detail {

/// Maps and sets: a list of their elements in ascending order, and never in another.
template <class Container, class Element>
struct Ordered {
  static void encode(Encoder& out, const Container& value) {
    out.number(static_cast<std::uint32_t>(value.size()));
    for (const auto& element : value) {
      if constexpr (requires { typename Container::mapped_type; }) {
        millrace::encode(out, element.first);
        millrace::encode(out, element.second);
      } else {
        millrace::encode(out, element);
      }
    }
  }
  static void decode(Decoder& in, Container& value) {
    value.clear();
    const auto count = in.count(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto added = value.insert(value.end(), decoded<Element>(in));
      if (value.size() == i || std::next(added) != value.end()) {
        throw CorruptBytes("the keys of a map or set do not ascend");
      }
    }
  }
};

}  // namespace codec_detail

template <class K, class V>
struct Codec<std::map<K, V>> : codec_detail::Ordered<std::map<K, V>, std::pair<K, V>> {
  static std::string shape() {
    return "map of " + millrace::shape<K>() + " to " + millrace::shape<V>();
  }
};

template <class T>
struct Codec<std::set<T>> : codec_detail::Ordered<std::set<T>, T> {
  static std::string shape() { return "set of " + millrace::shape<T>(); }
};

template <class... T>
struct Codec<std::tuple<T...>> {
  static void encode(Encoder& out, const std::tuple<T...>& value) {
    std::apply([&](const T&... element) { (millrace::encode(out, element), ...); }, value);
  }
  static void decode(Decoder& in, std::tuple<T...>& value) {
    std::apply([&](T&... element) { (millrace::decode(in, element), ...); }, value);
  }
  static std::string shape() { return "{" + codec_detail::shapes_of<T...>() + "}"; }
};

namespace codec_detail {

template <class... T>
struct Types {
  static constexpr bool are_plain = (Plain<T> && ...);
};
template <class... T>
std::string shape_of(Types<T...>) {
  return "{" + shapes_of<T...>() + "}";
}

}  // namespace codec_detail

/// Plain structs, member by member; one without padding is one copy, with the same bytes.
template <class T>
  requires(std::is_aggregate_v<T> && !std::is_array_v<T>)
struct Codec<T> {
  // From the members' types and never from a value: clang cannot make a text at compile time.
  using MemberTypes = decltype(with_fields(std::declval<T&>(), [](auto&... member) {
    return codec_detail::Types<std::remove_cvref_t<decltype(member)>...>{};
  }));
  static constexpr bool as_in_memory = MemberTypes::are_plain;

  static void encode(Encoder& out, const T& value) {
    if constexpr (Plain<T>) {
      out.raw(&value, sizeof value);
    } else {
      with_fields(value, [&](const auto&... member) { (millrace::encode(out, member), ...); });
    }
  }
  static void decode(Decoder& in, T& value) {
    with_fields(value, [&](auto&... member) { (millrace::decode(in, member), ...); });
  }
  static std::string shape() { return codec_detail::shape_of(MemberTypes{}); }
};

}  // namespace millrace
