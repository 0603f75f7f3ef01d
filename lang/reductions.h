// The productions' actions: each takes the items its production has left on the stack and puts what they make.
#pragma once

#include "lang/builder.h"

namespace gasell::syntax {

// Expressions.
void fold_operators(Builder&, size_t first, Span span);  // operands and operators in a row, by precedence
void make_starred(Builder&, size_t first, Span span);
void make_bare_tuple(Builder&, size_t first, Span span);   // one expression, or a tuple without parentheses
void make_target_list(Builder&, size_t first, Span span);  // the same for what stands between `for` and `in`
void make_index(Builder&, size_t first, Span span);        // the same for what stands in a subscript
void make_named(Builder&, size_t first, Span span);
void make_conditional(Builder&, size_t first, Span span);
void make_lambda(Builder&, size_t first, Span span);
void make_parameter(Builder&, size_t first, Span span);
void make_comprehension_clause(Builder&, size_t first, Span span);
void make_parenthesised(Builder&, size_t first, Span span);
void make_list(Builder&, size_t first, Span span);
void make_braces(Builder&, size_t first, Span span);  // set, dict and their comprehensions
void make_attribute(Builder&, size_t first, Span span);
void make_call(Builder&, size_t first, Span span);
void make_keyword(Builder&, size_t first, Span span);
void make_subscript(Builder&, size_t first, Span span);
void make_slice(Builder&, size_t first, Span span);
void make_yield(Builder&, size_t first, Span span);
void make_named_pattern(Builder&, size_t first, Span span);  // P as name
void make_patterns(Builder&, size_t first, Span span);       // what stands behind `case`

// Statements.
void make_expression_statement(Builder&, size_t first, Span span);  // expressions, assignments of all kinds
void make_return(Builder&, size_t first, Span span);
void make_word_statement(Builder&, size_t first, Span span);  // pass, break, continue
void make_raise(Builder&, size_t first, Span span);
void make_assert(Builder&, size_t first, Span span);
void make_delete(Builder&, size_t first, Span span);
void make_global(Builder&, size_t first, Span span);
void make_dotted_name(Builder&, size_t first, Span span);
void make_import_name(Builder&, size_t first, Span span);
void make_import(Builder&, size_t first, Span span);
void make_import_from(Builder&, size_t first, Span span);
void make_if(Builder&, size_t first, Span span);
void make_while(Builder&, size_t first, Span span);
void make_for(Builder&, size_t first, Span span);
void make_with_item(Builder&, size_t first, Span span);
void make_with(Builder&, size_t first, Span span);
void make_handler(Builder&, size_t first, Span span);
void make_try(Builder&, size_t first, Span span);
void make_function(Builder&, size_t first, Span span);
void make_class(Builder&, size_t first, Span span);
void make_case(Builder&, size_t first, Span span);
void make_match(Builder&, size_t first, Span span);
void make_decorated(Builder&, size_t first, Span span);
void make_body(Builder&, size_t first, Span span);

/// Checks a parameter list as Python does and orders it; the items are Parameters and the tokens "/" and "*".
std::vector<ast::Parameter> make_parameters(const Builder& b, Items::iterator begin, Items::iterator end);

}  // namespace gasell::syntax
