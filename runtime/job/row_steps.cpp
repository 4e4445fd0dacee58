#include "row_steps.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace millrace {
namespace {

void set(Row& row, std::uint32_t field, const Cell& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) row.set_integer(field, *integer);
  if (const auto* real = std::get_if<double>(&value)) row.set_real(field, *real);
  if (const auto* text = std::get_if<std::string_view>(&value)) row.set_text(field, *text);
}

}  // namespace

Projection::Projection(const SetSpec& set, const std::vector<Field>& fields) {
  for (std::uint32_t i = 0; i < fields.size(); ++i)
    columns_.emplace_back(Copied{i, fields[i].type});
  for (const Assignment& assignment : set.assignments) {
    columns_.resize(std::max<std::size_t>(columns_.size(), assignment.field + 1));
    columns_[assignment.field] = assignment.value;
  }
}

Projection::Projection(const KeepSpec& keep, const std::vector<Field>& fields) {
  for (const std::uint32_t field : keep.fields) {
    columns_.emplace_back(Copied{field, fields[field].type});
  }
}

Row Projection::operator()(const Row& row) const {
  Row made(static_cast<std::uint32_t>(columns_.size()));
  for (std::uint32_t i = 0; i < columns_.size(); ++i) {
    if (const auto* copied = std::get_if<Copied>(&columns_[i])) {
      made.copy(i, row, copied->field, copied->type);
    } else {
      set(made, i, value_of(std::get<Arithmetic>(columns_[i]), row));
    }
  }
  return made;
}

RowSteps::RowSteps(const std::vector<StepWork>& steps, std::vector<Field> fields) {
  for (const StepWork& step : steps) {
    if (const auto* filter = std::get_if<FilterSpec>(&step)) {
      steps_.emplace_back(Condition(filter->expression));
    } else if (const auto* set = std::get_if<SetSpec>(&step)) {
      steps_.emplace_back(Projection(*set, fields));
    } else {
      steps_.emplace_back(Projection(std::get<KeepSpec>(step), fields));
    }
    fields = fields_after(step, std::move(fields));
  }
}

std::optional<Row> RowSteps::operator()(const Row& row) const {
  Row made = row;
  for (const auto& step : steps_) {
    if (const auto* condition = std::get_if<Condition>(&step)) {
      if (!(*condition)(made)) return std::nullopt;
    } else {
      made = std::get<Projection>(step)(made);
    }
  }
  return made;
}

}  // namespace millrace
